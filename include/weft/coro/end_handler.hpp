// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/cancellation_state.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/context/operation_offer.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/coro/frame_memory.hpp>
#include <weft/execution/work_tracker.hpp>

namespace WEFT_NAMESPACE::detail {

/// Keeps work outstanding on the executor of what co_spawn or spawn has started, until it is
/// destroyed. `native` is the scheduler behind it, or null.
template <class Executor>
class spawn_work {
 public:
  spawn_work(const Executor& executor, const scheduler*) : tracker_(executor) {}

 private:
  work_tracker<Executor> tracker_;
};

/// A scheduler counts by itself; the tracker of another polymorphic executor is large, and
/// elsewhere.
template <class Executor>
  requires std::is_base_of_v<any_executor_tag, Executor>
class spawn_work<Executor> {
  struct tracker : recycled_frame {
    explicit tracker(const Executor& executor) : work(executor) {}
    work_tracker<Executor> work;
  };

 public:
  spawn_work(const Executor& executor, scheduler* native)
      : word_(native ? reinterpret_cast<std::uintptr_t>(native) | is_native
                     : reinterpret_cast<std::uintptr_t>(new tracker(executor))) {
    if (native) [[likely]]
      scheduler_work_started(*native);
  }
  spawn_work(spawn_work&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  spawn_work& operator=(spawn_work&&) = delete;
  ~spawn_work() {
    if (word_ & is_native) [[likely]]
      scheduler_work_finished(*reinterpret_cast<scheduler*>(word_ & ~is_native));
    else if (word_)
      delete reinterpret_cast<tracker*>(word_);
  }

 private:
  static constexpr std::uintptr_t is_native = 1;

  std::uintptr_t word_;  // 0: no work
};

/// What co_spawn or spawn starts on an `Executor`, with the handler that hears of its end. `Base`
/// is an operation that submits itself; `Self` has
///   get_executor()  its executor
///   run             its operation's function, which calls `offer_handler` when it is concluded
///   finish()        moves the handler out with `take`, gives its memory back, calls the handler
///   dismiss()       destroys it, the handler un-called
template <class Self, class Base, class Executor, class Handler>
class with_end_handler : public Base {
  using handler_executor = associated_executor_t<Handler, Executor>;
  static constexpr bool has_own_executor = !executor_unassociated<Handler, Executor>;
  static_assert(std::is_same_v<associated_cancellation_slot_t<Handler>, cancellation_slot>,
                "spawn and co_spawn take tokens with weft's own type of cancellation slot");
  struct nothing {
    template <class... A>
    explicit nothing(const A&...) noexcept {}
  };
  using handler_work =
      std::conditional_t<has_own_executor, work_tracker<handler_executor>, nothing>;

 protected:
  template <class H, class... Args>
  with_end_handler(const Executor& executor, H&& handler, Args&&... of_base)
      : Base(std::forward<Args>(of_base)...),
        work_(executor, this->native()),
        handler_work_(get_associated_executor(handler, executor)),
        handler_(std::forward<H>(handler)) {}
  ~with_end_handler() = default;

  Handler& handler() noexcept { return handler_; }

  /// Has it cancelled by the handler's slot.
  void connect() {
    this->parent_slot = get_associated_cancellation_slot(handler_);
    this->cancellation = cancellation_state(this->parent_slot);
  }

  /// It is concluded: has the handler's executor finish it, or finishes it if it is there.
  void offer_handler() {
    if (is_inside()) [[likely]] {
      self().finish();
      return;
    }
    const auto work(std::move(work_));  // until another executor, or a queue of this one, has it
    const auto allocator = get_associated_allocator(handler_);
    const auto executor = executor_of_handler();  // a copy: the operation may end before offer does
    std::exception_ptr refusal = offer(this, &arrive, &Self::run, executor, allocator);
    if (!refusal)
      return;
    operation::ends_by(&Self::run);
    if (!this->submit())
      self().finish();
    std::rethrow_exception(std::move(refusal));
  }

  /// The handler, and the work that is until it has been called.
  struct taken {
    Handler handler;
    [[no_unique_address]] spawn_work<Executor> work;
    [[no_unique_address]] handler_work own_work;
  };
  taken take() { return {std::move(handler_), std::move(work_), std::move(handler_work_)}; }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  /// The one that the handler is called in.
  const auto& executor_of_handler() noexcept {
    if constexpr (has_own_executor)
      return handler_work_.get_executor();
    else
      return self().get_executor();
  }

  /// Whether this thread is known to be in it.
  bool is_inside() noexcept {
    const scheduler* native = this->native();
    if constexpr (has_own_executor)
      native = native_scheduler(handler_work_.get_executor());
    return native && scheduler_running_in_this_thread(*native);
  }

  /// Ends it in the handler's executor.
  static void arrive(operation* base, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Handler>(base);
    Self& self = static_cast<Self&>(*base);
    if (what == operation::action::invoke) {
      handover::called(base);
      self.finish();
    } else if (!handover::destroyed(base)) {
      self.dismiss();
    }
  }

  spawn_work<Executor> work_;
  [[no_unique_address]] handler_work handler_work_;
  [[no_unique_address]] Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail
