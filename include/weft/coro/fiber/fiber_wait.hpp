// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/type_name.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/fiber/fiber_base.hpp>
#include <weft/coro/fiber/fiber_results.hpp>
#include <weft/coro/in_place_call.hpp>
#include <weft/execution/inline_executor.hpp>

// The ways in which a fiber waits for an operation. Each is a function on the fiber's stack that
// switches, and so touches nothing thread-local itself (switch_stack); what does is not inlined.
// The quick ones are inlined into the function that waits (fiber_base::wait).

namespace WEFT_NAMESPACE::detail {

/// Waits for an operation by a handler, whose associated executor is the fiber's. While the
/// operation is under way, its handler owns the fiber: one that is destroyed un-called unwinds it.
template <class Signature, class Executor>
class handler_wait {
  using results = fiber_results_t<Signature>;
  using outcome = in_place_call::outcome;

 public:
  handler_wait(fiber_base& fiber, const Executor& executor) noexcept
      : fiber_(fiber), executor_(executor) {}
  handler_wait(const handler_wait&) = delete;
  handler_wait& operator=(const handler_wait&) = delete;

  template <class Initiation, class... Args>
  [[gnu::always_inline]] typename results::type operator()(error_code* ec, Initiation&& initiation,
                                                           Args&&... args) {
    switch (start(std::forward<Initiation>(initiation), std::forward<Args>(args)...)) {
      case outcome::pending: fiber_.wait_for_handler(type_text<std::decay_t<Initiation>>()); break;
      case outcome::completed: fiber_.completed_in_place(); break;
      case outcome::dropped: fiber_.unwind_here();
    }
    if (error_) [[unlikely]]
      std::rethrow_exception(std::move(error_));
    return results_.get(ec);
  }

 private:
  class handler {
   public:
    using executor_type = Executor;
    using immediate_executor_type = inline_executor;  // what completes at once goes on at once
    using cancellation_slot_type = cancellation_slot;

    explicit handler(handler_wait& wait) noexcept : wait_(&wait) {}
    handler(handler&& other) noexcept : wait_(std::exchange(other.wait_, nullptr)) {}
    handler& operator=(handler&&) = delete;
    ~handler() {
      if (wait_)
        wait_->dropped();
    }

    const executor_type& get_executor() const noexcept { return wait_->executor_; }
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
    cancellation_slot_type get_cancellation_slot() const noexcept {
      return wait_->fiber_.cancellation.slot();
    }

    template <class... Args>
    void operator()(Args&&... args) {
      handler_wait& wait = *std::exchange(wait_, nullptr);
      try {
        wait.results_.set(std::forward<Args>(args)...);
      } catch (...) {
        wait.error_ = std::current_exception();
      }
      wait.completed();
    }

   private:
    handler_wait* wait_;
  };

  template <class Initiation, class... Args>
  [[gnu::noinline]] outcome start(Initiation&& initiation, Args&&... args) {
    fiber_.begin_initiation();
    const in_place_call call;
    call_ = call.get_name();
    try {
      std::forward<Initiation>(initiation)(handler(*this), std::forward<Args>(args)...);
      fiber_.end_initiation();
    } catch (...) {
      fiber_.end_initiation();
      // An initiating function that throws and has kept the handler has started the operation all
      // the same, and will complete it. One that has dropped or called it has failed.
      if (call.result() != outcome::pending) {
        error_ = std::current_exception();
        return outcome::completed;
      }
    }
    return call.result();
  }

  void completed() {
    if (in_place_call::ended(call_, outcome::completed))
      return;
    fiber_.await_parked();
    fiber_.resume();
  }
  void dropped() noexcept {
    if (in_place_call::ended(call_, outcome::dropped))
      return;
    fiber_.await_parked();
    fiber_.dismiss();
  }

  fiber_base& fiber_;
  const Executor& executor_;
  in_place_call::name call_{};
  std::exception_ptr error_;
  [[no_unique_address]] results results_;
};

/// Waits for an operation of a direct_initiation, without a handler: the operation lies on the
/// fiber's stack, and its owner is the scheduler behind the fiber's executor, which resumes the
/// fiber. While it is pending, it owns the fiber.
template <class Signature, class Initiation>
class direct_wait final : public Initiation::operation_type {
  using base = typename Initiation::operation_type;
  using results = fiber_results_t<Signature>;

 public:
  direct_wait(fiber_base& fiber, Initiation&& initiation)
      : base(&complete, *fiber.native(), std::move(initiation)), fiber_(fiber) {}

  [[gnu::always_inline]] typename results::type operator()(error_code* ec) {
    if (try_now())
      fiber_.completed_in_place();
    else
      fiber_.wait(&begin, this, type_text<Initiation>());
    if (error_) [[unlikely]]
      std::rethrow_exception(std::move(error_));
    results r;
    this->take_results().give_to(
        [&](auto&&... values) { r.set(std::forward<decltype(values)>(values)...); });
    return r.get(ec);
  }

 private:
  [[gnu::noinline]] bool try_now() noexcept { return completes_at_once(static_cast<base&>(*this)); }

  // On the resumer's stack: the fiber may go on elsewhere as soon as the operation has started.
  static bool begin(fiber_base& fiber, void* argument) noexcept {
    auto& self = *static_cast<direct_wait*>(argument);
    try {
      if (fiber.cancellation.slot().is_connected() ? self.start_cancellable() : self.start())
        return false;
      conclude_start(static_cast<base&>(self));
      return fiber.may_go_on() || !fiber.submit();
    } catch (...) {
      self.error_ = std::current_exception();
      return true;
    }
  }

  bool start_cancellable() {
    cancellation_slot slot = fiber_.cancellation.slot();
    const slot_lock lock(slot);
    this->retain();
    slot.template emplace<operation_canceller<base>>(this);
    is_connected_ = true;
    if (this->start())
      return true;
    disconnect();
    return false;
  }
  void disconnect() noexcept {
    is_connected_ = false;
    fiber_.cancellation.slot().clear();
  }

  static void complete(operation* op, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<direct_wait>(op, true);
    auto& self = *static_cast<direct_wait*>(op);
    if (what == operation::action::destroy)
      return self.fiber_.dismiss();
    if (self.is_connected_) [[unlikely]]
      self.disconnect();
    self.fiber_.resume();
  }

  fiber_base& fiber_;
  std::exception_ptr error_;
  bool is_connected_ = false;
};

/// The scheduler that an initiation queues its handler with, if it does nothing else; or null.
template <class Initiation>
scheduler* queues_with(const Initiation&, const fiber_base&) noexcept {
  return nullptr;
}
template <submission How, class Executor>
  requires(How != submission::dispatch)
scheduler* queues_with(const initiate_submission_to<How, Executor>& initiation,
                       const fiber_base&) noexcept {
  return native_scheduler(initiation.get_executor());
}
template <submission How>
  requires(How != submission::dispatch)
scheduler* queues_with(const initiate_submission<How>&, const fiber_base& fiber) noexcept {
  return fiber.native();
}

/// Starts the operation that `initiation(handler, args...)` starts, and waits for it.
template <class Signature, class Executor, class Initiation, class... Args>
[[gnu::always_inline]] inline auto wait_for(fiber_base& fiber, const Executor& executor,
                                            error_code* ec, Initiation&& initiation, Args&&... args)
    -> typename fiber_results_t<Signature>::type {
  using initiation_type = std::decay_t<Initiation>;
  fiber.begin_wait();
  if constexpr (std::is_same_v<Signature, void()> && sizeof...(Args) == 0) {
    // The fiber itself is queued in the place of a handler.
    if (scheduler* const native = queues_with(initiation, fiber);
        native && native == fiber.native())
      return fiber.yield();
  }
  if constexpr (direct_initiation<initiation_type> && sizeof...(Args) == 0) {
    if (fiber.native()) [[likely]] {
      initiation_type own(std::forward<Initiation>(initiation));
      return direct_wait<Signature, initiation_type>(fiber, std::move(own))(ec);
    }
  }
  return handler_wait<Signature, Executor>(fiber, executor)(
      ec, std::forward<Initiation>(initiation), std::forward<Args>(args)...);
}

}  // namespace WEFT_NAMESPACE::detail
