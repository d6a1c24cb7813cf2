// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/end_handler.hpp>
#include <weft/coro/fiber/fiber_base.hpp>
#include <weft/coro/stack_pool.hpp>
#include <weft/coro/yield_context.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {

/// A stack allocator: one whose stacks fibers may have.
template <class A>
concept stack_allocator = std::copy_constructible<A> && requires(A& a) {
  { a.allocate().sp } -> std::convertible_to<void*>;
  { a.allocate().size } -> std::convertible_to<std::size_t>;
};

namespace detail {

/// What came of a function: an exception, or what it has returned.
template <class T>
class fiber_outcome {
  struct nothing {};
  static constexpr bool has_value = !std::is_void_v<T>;

 public:
  template <class F, class... Args>
  void call(F&& f, const Args&... args) {
    if constexpr (has_value)
      value_.emplace(std::forward<F>(f)(args...));
    else
      std::forward<F>(f)(args...);
  }
  void fail(std::exception_ptr e) noexcept { error_ = std::move(e); }

  auto take_results() {
    if constexpr (!has_value)
      return operation_results<std::exception_ptr>{std::move(error_)};
    else if (value_)
      return operation_results<std::exception_ptr, T>{nullptr, *std::move(value_)};
    else
      return operation_results<std::exception_ptr, T>{std::move(error_), T()};
  }

 private:
  std::exception_ptr error_;
  [[no_unique_address]] std::conditional_t<has_value, std::optional<T>, nothing> value_;
};

/// A fiber with its function, and the handler that hears of its end. It lies at the beginning of
/// its own stack, so there is one allocation, and what a switch touches lies together. It is one
/// operation all the way, and is in one stage at a time:
///   queued     The executor is to begin it, or to go on with it.
///   waiting    It belongs to what it waits for.
///   concluded  The function has returned and is destroyed, the outcome is here. It is offered to
///              the handler's executor; if that refuses, it is queued with the fiber's, to be
///              offered again, and what was thrown leaves `run()`. If both refuse, the handler is
///              called on the spot.
/// At its end the handler is moved out, the stack goes back, and the handler is called.
template <class T, class Executor, class Function, class Handler, class StackAllocator>
class spawned_fiber final
    : public with_end_handler<spawned_fiber<T, Executor, Function, Handler, StackAllocator>,
                              fiber_base, Executor, Handler> {
  using base = with_end_handler<spawned_fiber, fiber_base, Executor, Handler>;
  friend base;
  using stack = std::decay_t<decltype(std::declval<StackAllocator&>().allocate())>;
  using yield_type = basic_yield_context<Executor>;

 public:
  template <class F, class H>
  static void start(const Executor& executor, StackAllocator stacks, F&& function, H&& handler,
                    const std::source_location& where) {
    const auto allocator = get_associated_allocator(handler);
    spawned_fiber* const fiber = make(executor, std::move(stacks), std::forward<F>(function),
                                      std::forward<H>(handler), where);
    // What an executor throws that refuses it, the initiating function throws.
    detail::submit<submission::post>(executor, operation_function(fiber), allocator);
  }

 private:
  template <class F, class H>
  static spawned_fiber* make(const Executor& executor, StackAllocator stacks, F&& function,
                             H&& handler, const std::source_location& where) {
    constexpr std::uintptr_t line = 64;
    constexpr std::uintptr_t alignment =
        alignof(spawned_fiber) < line ? line : alignof(spawned_fiber);
    stack memory = stacks.allocate();
    const auto end = reinterpret_cast<std::uintptr_t>(memory.sp) - sizeof(spawned_fiber);
    void* const top = reinterpret_cast<void*>(end & ~(alignment - 1));
    void* const limit = static_cast<std::byte*>(memory.sp) - memory.size;
    try {
      auto* const fiber =
          ::new (top) spawned_fiber(limit, top, executor, std::forward<F>(function),
                                    std::forward<H>(handler), where, stacks, memory);
      try {
        fiber->connect();
      } catch (...) {
        fiber->~spawned_fiber();
        throw;
      }
      return fiber;
    } catch (...) {
      stacks.deallocate(memory);
      throw;
    }
  }

  template <class F, class H>
  spawned_fiber(void* limit, void* top, const Executor& executor, F&& function, H&& handler,
                const std::source_location& where, const StackAllocator& stacks,
                const stack& memory)
      : base(executor, std::forward<H>(handler), &run, own_kind, native_scheduler(executor), limit,
             top, where),
        executor_(executor),
        function_(std::forward<F>(function)),
        stacks_(stacks),
        memory_(memory) {}
  ~spawned_fiber() = default;

  static void free(spawned_fiber* self) noexcept {
    StackAllocator stacks(std::move(self->stacks_));
    stack memory = self->memory_;
    self->~spawned_fiber();
    stacks.deallocate(memory);
  }

  // ---- fiber_base::kind

  static void call(fiber_base& base) {
    auto& self = static_cast<spawned_fiber&>(base);
    try {
      self.outcome_.call(std::move(self.function_), yield_type(self, self.executor_));
    } catch (const fiber_unwind&) {
      throw;
    } catch (...) {
      self.outcome_.fail(std::current_exception());
    }
  }

  static void conclude(fiber_base& base) {
    auto& self = static_cast<spawned_fiber&>(base);
    self.is_concluded_ = true;
    self.offer_handler();
  }

  static void release(fiber_base& base) noexcept {
    auto* const self = static_cast<spawned_fiber*>(&base);
    if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
      [[maybe_unused]] const Handler last(std::move(self->handler()));
      free(self);
    } else {
      free(self);
    }
  }

  static bool submit_to_executor(fiber_base& base) noexcept {
    auto& self = static_cast<spawned_fiber&>(base);
    return post_to(self.executor_, &self);
  }

  static constexpr fiber_base::kind own_kind{&call, &conclude, &release, &submit_to_executor};

  // ---- operation

  static void run(operation* base, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Function>(base);
    auto* const self = static_cast<spawned_fiber*>(base);
    if (what == operation::action::destroy) {
      if (!handover::destroyed(base))
        self->dismiss();
      return;
    }
    if (!self->native()) [[unlikely]]
      handover::called(base);
    if (!self->is_concluded_) [[likely]]
      self->resume();
    else
      self->offer_handler();
  }

  const Executor& get_executor() const noexcept { return executor_; }

  void finish() {
    const auto end = [](spawned_fiber* self) noexcept { free(self); };
    std::unique_ptr<spawned_fiber, decltype(end)> self(this, end);  // moving a handler may throw
    fiber_outcome<T> outcome(std::move(outcome_));
    auto last = this->take();
    self.reset();
    outcome.take_results().give_to(std::move(last.handler));
  }

  [[no_unique_address]] Executor executor_;
  bool is_concluded_ = false;
  fiber_outcome<T> outcome_;
  Function function_;
  [[no_unique_address]] StackAllocator stacks_;
  stack memory_;
};

template <class T, class Executor>
class initiate_fiber {
 public:
  using executor_type = Executor;

  explicit initiate_fiber(const Executor& executor) : executor_(executor) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class Handler, class StackAllocator, class Function>
  void operator()(Handler&& handler, StackAllocator stacks, Function&& function,
                  const std::source_location& where) const {
    spawned_fiber<T, Executor, std::decay_t<Function>, std::decay_t<Handler>,
                  StackAllocator>::start(executor_, std::move(stacks),
                                         std::forward<Function>(function),
                                         std::forward<Handler>(handler), where);
  }

 private:
  [[no_unique_address]] Executor executor_;
};

/// How the handler of what gives a `T`, or throws, is called.
template <class T>
struct fiber_signature : std::type_identity<void(std::exception_ptr, T)> {};
template <>
struct fiber_signature<void> : std::type_identity<void(std::exception_ptr)> {};

/// A result that a handler can be given, also with an exception.
template <class T>
concept handed_over = std::is_void_v<T> || std::is_default_constructible_v<T>;

template <class T>
inline constexpr bool is_yield_context = false;
template <class Executor>
inline constexpr bool is_yield_context<basic_yield_context<Executor>> = true;

/// An executor, or what has one: a context, or a fiber.
template <class T>
concept executor_place = any_style_executor<T> || execution_context_type<T> || is_yield_context<T>;

template <class Place>
  requires executor_place<std::remove_const_t<Place>>
auto executor_of(Place& place) noexcept {
  if constexpr (any_style_executor<std::remove_const_t<Place>>)
    return place;
  else
    return place.get_executor();
}
template <class Place>
using executor_of_t = decltype(executor_of(std::declval<std::remove_reference_t<Place>&>()));

/// A function that may run as a fiber on `Executor`.
template <class F, class Executor>
concept fiber_function = std::is_invocable_v<std::decay_t<F>, basic_yield_context<Executor>>;

template <class Token, class Executor, class StackAllocator, class F>
auto spawn_fiber(const Executor& executor, const StackAllocator& stacks, F&& function, Token& token,
                 const std::source_location& where) {
  using T = std::decay_t<std::invoke_result_t<std::decay_t<F>, basic_yield_context<Executor>>>;
  static_assert(handed_over<T>,
                "what a fiber's function returns must be an object that can be made "
                "by default: a handler gets such a value with an exception");
  return async_initiate<Token, typename fiber_signature<T>::type>(
      initiate_fiber<T, Executor>(executor), token, stacks, std::forward<F>(function), where);
}

}  // namespace detail

/// Starts a fiber: a function with a stack of its own, that waits where others would block.
///
///     spawn(context, [&](yield_context yield) { echo(socket, yield); }, detached);
///     spawn(context, stack_size(256 * 1024), &session, detached);
///
/// `place` is an executor, a context, or the yield_context of another fiber, whose executor is
/// meant. There `f` is called with a basic_yield_context of that executor type, which converts to
/// yield_context; it is kept until the fiber has ended. Nothing runs before spawn has returned.
///
/// Completion signature: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` if `f`
/// returns nothing: what has left `f`, or null; and what it has returned, or `T()`.
/// Errors: throws what the allocation of the stack (std::bad_alloc), moving `f`, or the executor
/// throw; nothing is started then.
/// Cancellation: the token's slot cancels what the fiber waits for, and makes it throw when it
/// waits again, for requests that reset_cancellation_state lets pass: terminal ones, unless it was
/// called. What the fiber makes of that is its own.
/// Thread safety: any thread. O(1): one stack, from the stack_pool or the allocator that is given.
///
/// When the context is destroyed while the fiber waits, its stack is unwound: destructors run, and
/// the handler is destroyed un-called.
///
/// The stack has to do for all that `f` calls; see stack_size. Between two lines of a fiber others
/// run, and it may go on in another thread: what it may not hold meanwhile stands in
/// docs/fibers.md.
template <class Place, class F,
          class Token = default_completion_token_t<detail::executor_of_t<Place>>>
  requires detail::fiber_function<F, detail::executor_of_t<Place>>
auto spawn(Place&& place, F&& f,
           Token&& token = default_completion_token_t<detail::executor_of_t<Place>>(),
           std::source_location where = std::source_location::current()) {
  return detail::spawn_fiber<Token>(detail::executor_of(place), stack_pool(), std::forward<F>(f),
                                    token, where);
}
template <class Place, class F,
          class Token = default_completion_token_t<detail::executor_of_t<Place>>>
  requires detail::fiber_function<F, detail::executor_of_t<Place>>
auto spawn(Place&& place, stack_size size, F&& f,
           Token&& token = default_completion_token_t<detail::executor_of_t<Place>>(),
           std::source_location where = std::source_location::current()) {
  return detail::spawn_fiber<Token>(detail::executor_of(place), stack_pool(size),
                                    std::forward<F>(f), token, where);
}
template <class Place, stack_allocator StackAllocator, class F,
          class Token = default_completion_token_t<detail::executor_of_t<Place>>>
  requires detail::fiber_function<F, detail::executor_of_t<Place>>
auto spawn(Place&& place, std::allocator_arg_t, const StackAllocator& stacks, F&& f,
           Token&& token = default_completion_token_t<detail::executor_of_t<Place>>(),
           std::source_location where = std::source_location::current()) {
  return detail::spawn_fiber<Token>(detail::executor_of(place), stacks, std::forward<F>(f), token,
                                    where);
}

}  // namespace WEFT_NAMESPACE
