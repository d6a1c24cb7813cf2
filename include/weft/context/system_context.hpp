// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/scheduler.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/system_executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {
/// Starts the threads of the system context, once.
void start_system_threads();
}  // namespace detail

/// The process's own execution context: a pool of threads, started when system_executor first
/// queues a function, or an object or operation first belongs to it. There is one, got by
/// `query(system_executor(), execution::context)`; it lives until the process ends, and is stopped
/// and joined then.
///
/// The child of a fork has threads for it once it has been told (notify_fork); one that has not
/// leaves it as it is when it ends.
///
/// Thread safety: `join` may not be called beside itself; the rest from any thread.
class WEFT_API system_context : public execution_context {
 public:
  using executor_type = system_executor;

  ~system_context();

  executor_type get_executor() noexcept { return {}; }

  /// Makes the threads return as soon as their current functions have. Final.
  void stop();
  bool stopped() const noexcept;
  /// Waits until the threads have returned.
  void join();

 private:
  friend system_context& detail::system_context_instance();
  friend void detail::system_context_post(detail::operation*);
  friend void detail::start_system_threads();

  system_context();

  detail::scheduler& scheduler_;
};

}  // namespace WEFT_NAMESPACE
