// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <type_traits>
#include <utility>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/token_adapter.hpp>
#include <weft/base/owned_pointer.hpp>
#include <weft/context/system_context.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/basic_waitable_timer.hpp>
#include <weft/io/timer_core.hpp>

// What cancel_after and cancel_at have in common.

namespace WEFT_NAMESPACE::detail {

/// The state that a timeout's wait starts from; a base so that it is made before the wait.
struct timeout_timer {
  timer_state own;
};

/// The wait that runs beside an operation and cancels it, and the signal it does that with.
///
/// It is shared by up to three parties, the last of which frees it: the initiating function (until
/// it has armed the wait), the operation's handler (until it is called or destroyed), and the wait
/// (from then until it has run, been retracted or destroyed). The operation is started first,
/// so that it can hear the signal when the wait begins. Whichever of handler and wait comes second
/// finds the other one gone: the wait then signals to an empty slot, and the handler is called once
/// in any case, with what the operation reported.
class WEFT_API timeout final : private timeout_timer, private wait_operation {
 public:
  struct party_drop {
    void operator()(timeout* t) const noexcept { t->drop(1); }
  };
  /// The initiating function's part. At its end, an unarmed timeout does not run.
  using pointer = owned_pointer<timeout, party_drop>;

  /// Made for the initiating function. Throws std::bad_alloc.
  static pointer create(timer_service& service, const timer_clock& clock, std::int64_t expiry,
                        cancellation_type type);
  /// The same, as a wait on `timer`, which can cancel it.
  static pointer create(timer_state& timer, cancellation_type type);

  cancellation_signal& signal() noexcept { return signal_; }

  /// A handler has been made: its part begins.
  void begin() noexcept { parties_.fetch_add(1, std::memory_order_relaxed); }

  /// Starts the wait, unless the operation is over. `waits` is not touched then.
  void arm() noexcept;

  /// The operation is over: the handler's part ends.
  void end() noexcept;

 private:
  timeout(timer_state&& own, wait_link* waits, cancellation_type type) noexcept;
  ~timeout() = default;

  static timeout* make(timer_state&& own, wait_link* waits, cancellation_type type);
  static void complete(operation* base, action what);
  void drop(int parties) noexcept;

  cancellation_signal signal_;
  wait_link* waits_;
  cancellation_type type_;
  // Dropped by each party (release); the last one (acquire) sees what all have done, and frees.
  std::atomic<int> parties_{1};
};

/// Passes a request on to an operation that listens to its timeout.
class timeout_forwarder {
 public:
  explicit timeout_forwarder(timeout* t) noexcept : timeout_(t) {}
  void operator()(cancellation_type type) const { timeout_->signal().emit(type); }

 private:
  timeout* timeout_;
};

/// The handler of an operation with a timeout: calls `Handler` with the same results. Its own slot
/// is the timeout's; what the slot of `Handler` hears is passed on.
template <class Handler>
class timed_handler {
 public:
  template <class H>
  timed_handler(H&& handler, timeout* t) : handler_(std::forward<H>(handler)), timeout_(t) {
    auto parent = get_associated_cancellation_slot(handler_);
    if (parent.is_connected()) {
      parent.template emplace<timeout_forwarder>(t);
      connected_ = true;
    }
    t->begin();
  }
  timed_handler(timed_handler&& other)
      : handler_(std::move(other.handler_)),
        timeout_(std::exchange(other.timeout_, nullptr)),
        connected_(std::exchange(other.connected_, false)) {}
  timed_handler& operator=(timed_handler&&) = delete;
  ~timed_handler() { finish(); }

  template <class... Args>
  void operator()(Args&&... args) {
    finish();
    std::move(handler_)(std::forward<Args>(args)...);
  }

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

  using cancellation_slot_type = cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return timeout_ ? timeout_->signal().slot() : cancellation_slot();
  }

 private:
  void finish() noexcept {
    if (std::exchange(connected_, false))
      get_associated_cancellation_slot(handler_).clear();
    if (timeout* t = std::exchange(timeout_, nullptr))
      t->end();
  }

  Handler handler_;
  timeout* timeout_;
  bool connected_ = false;
};

/// Starts an operation, and then the timeout that `Deadline` makes for it.
template <class Deadline>
struct start_timed {
  template <class Initiation, class Handler, class... Args>
  void operator()(Initiation&& initiation, Handler&& handler, Args&&... args) const {
    const auto executor = get_associated_executor(handler, get_associated_executor(initiation));
    const timeout::pointer t = deadline.start(executor);
    std::move(initiation)(
        timed_handler<std::decay_t<Handler>>(std::forward<Handler>(handler), t.get()),
        std::forward<Args>(args)...);
    t->arm();
  }

  Deadline deadline;
};
template <class Initiation, class Deadline>
using timed_initiation = wrapped_initiation<std::decay_t<Initiation>, start_timed<Deadline>>;

/// A time after the operation's start.
template <class Clock>
struct relative_deadline {
  typename Clock::duration timeout;

  template <class Token>
  static relative_deadline of(const Token& token) {
    return {token.timeout_};
  }
  typename Clock::time_point expiry() const noexcept {
    return saturated_add(clock_now<Clock>(), timeout);
  }
};

template <class Clock>
struct absolute_deadline {
  typename Clock::time_point time;

  template <class Token>
  static absolute_deadline of(const Token& token) {
    return {token.expiry_};
  }
  typename Clock::time_point expiry() const noexcept { return time; }
};

/// The context that waits on behalf of an operation whose handler is bound to `executor`: the
/// system's, if the executor names none.
template <class Executor>
execution_context& timeout_context(const Executor& executor) {
  if constexpr (!execution::executor<Executor> ||
                can_query_v<const Executor&, execution::context_t>)
    return executor_context(executor);
  else
    return executor_context(system_executor());
}

/// A timeout with a wait of its own.
template <class Time, class Clock, class WaitTraits>
struct own_deadline {
  Time time;
  cancellation_type type;

  template <class Token>
  static own_deadline of(const Token& token) {
    return {Time::of(token), token.cancel_type_};
  }
  template <class Executor>
  timeout::pointer start(const Executor& executor) const {
    using clock_access = timer_clock_of<Clock, WaitTraits>;
    return timeout::create(use_timer_service(timeout_context(executor)), clock_access::value,
                           clock_access::expiry(time.expiry()), type);
  }
};

/// A timeout on a timer of the user's.
template <class Time, class Timer>
struct timer_deadline {
  Timer* timer;
  Time time;
  cancellation_type type;

  template <class Token>
  static timer_deadline of(const Token& token) {
    return {token.timer_, Time::of(token), token.cancel_type_};
  }
  template <class Executor>
  timeout::pointer start(const Executor&) const {
    timer->expires_at(time.expiry());
    return timeout::create(timer_access::state(*timer), type);
  }
};

/// The async_result of cancel_after and cancel_at: starts the operation with the token they hold.
template <class Deadline, class... Signatures>
struct timed_result {
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args)
      -> decltype(initiate_with(signature_list<Signatures...>(),
                                std::declval<timed_initiation<Initiation, Deadline>>(),
                                std::forward<Token>(token).token_, std::forward<Args>(args)...)) {
    return initiate_with(
        signature_list<Signatures...>(),
        timed_initiation<Initiation, Deadline>(std::forward<Initiation>(initiation),
                                               start_timed<Deadline>{Deadline::of(token)}),
        std::forward<Token>(token).token_, std::forward<Args>(args)...);
  }
};

}  // namespace WEFT_NAMESPACE::detail
