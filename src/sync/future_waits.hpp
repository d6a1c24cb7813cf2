// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/word_mutex.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/sync/future_wait.hpp>

namespace WEFT_NAMESPACE::detail {

/// The waits that a context's scheduler is to complete, and whose producers may outlive it.
///
/// A wait is on the list before it is attached to its state. Who takes it away from the state (the
/// producer that tells it, a cancellation, the shutdown) has it alone, and takes it off the list
/// and hands it to the scheduler under the mutex. So when the shutdown finds the list empty, under
/// the mutex, no producer has anything left to do here.
///
/// Lock order: the mutex before those of the scheduler. Each member is O(1), but shutdown.
class future_waits final : public execution_context::service {
 public:
  using key_type = future_waits;

  explicit future_waits(execution_context& owner) noexcept : service(owner) {}

  /// False if the context is being destroyed.
  bool add(future_wait& wait) noexcept;
  /// Takes it off the list.
  void remove(future_wait& wait) noexcept;
  /// The same, and queues it with its scheduler.
  void complete(future_wait& wait) noexcept;

 private:
  void shutdown() override;
  void unlink(future_wait& wait) noexcept;

  word_mutex mutex_;
  future_wait* first_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
