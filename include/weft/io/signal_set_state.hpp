// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/async/cancellation_type.hpp>
#include <weft/base/error_code.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/io/signal_set_base.hpp>

namespace WEFT_NAMESPACE::detail {

class signal_registry;
class signal_service;
class signal_set_state;
struct signal_registration;

/// One asynchronous wait for a signal. Its fields are guarded by the registry's lock until it is
/// queued.
class WEFT_API signal_wait_operation : public operation {
 public:
  /// The scheduler whose threads complete the wait.
  scheduler& owner() const noexcept { return *scheduler_; }

  operation_results<error_code, int> take_results() noexcept { return {ec_, signal_number_}; }

  /// Cancels this wait alone, if it still waits. Any thread; O(1).
  void cancel() noexcept;

 protected:
  signal_wait_operation(function f, const signal_set_state& set) noexcept;
  ~signal_wait_operation() = default;

 private:
  friend class signal_registry;

  enum class state : std::uint8_t { fresh, waiting, cancelled_early, queued };

  scheduler* const scheduler_;
  signal_set_state* set_ = nullptr;
  signal_wait_operation* prev_ = nullptr;
  signal_wait_operation* next_ = nullptr;
  error_code ec_;
  int signal_number_ = 0;
  state state_ = state::fresh;
};

/// The part of a signal set that does not depend on its executor: the signals that are registered,
/// the notifications that nobody has taken, and the waits. All of it is guarded by the one lock of
/// the process's signal_registry.
class WEFT_API signal_set_state {
 public:
  explicit signal_set_state(execution_context& context);
  signal_set_state(const signal_set_state&) = delete;
  signal_set_state& operator=(const signal_set_state&) = delete;
  /// Cancels the waits and removes all signals.
  ~signal_set_state();

  error_code add(int signal_number, signal_set_base::flags flags) noexcept;
  error_code remove(int signal_number) noexcept;
  error_code clear() noexcept;
  void cancel() noexcept;
  void start(signal_wait_operation* op) noexcept;

 private:
  friend class signal_registry;
  friend class signal_service;
  friend class signal_wait_operation;

  scheduler* const scheduler_;
  signal_service* service_;           // null when that is shut down
  signal_set_state* prev_ = nullptr;  // the sets of a service
  signal_set_state* next_ = nullptr;
  signal_registration* registrations_ = nullptr;  // by ascending signal number
  signal_wait_operation* first_ = nullptr;        // the waits, in the order of their start
  signal_wait_operation* last_ = nullptr;
};

inline signal_wait_operation::signal_wait_operation(function f,
                                                    const signal_set_state& set) noexcept
    : operation(f), scheduler_(set.scheduler_) {}

/// Answers a cancellation slot for a wait.
class signal_canceller {
 public:
  explicit signal_canceller(signal_wait_operation* op) noexcept : op_(op) {}
  void operator()(cancellation_type type) const noexcept {
    if (!!(type &
           (cancellation_type::terminal | cancellation_type::partial | cancellation_type::total)))
      op_->cancel();
  }

 private:
  signal_wait_operation* op_;
};

}  // namespace WEFT_NAMESPACE::detail
