// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/async/compose.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/base/operation_function.hpp>
#include <weft/context/handover.hpp>
#include <weft/coro/awaitable_promise.hpp>
#include <weft/coro/frame_memory.hpp>
#include <weft/coro/operation_awaiter.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// What a coroutine that implements an operation completes with: the results of the signature of
/// that index.
template <std::size_t Index, class... Args>
struct co_composed_results {
  std::tuple<stored_result_t<Args>...> values;

  template <class Self>
  void give_to(Self& self) {
    std::apply([&](auto&... v) { self.complete(static_cast<stored_result_t<Args>&&>(v)...); },
               values);
  }
};

/// The state's `complete`, and the promise's `co_return`, for one signature.
template <class Promise, std::size_t Index, class Signature>
struct co_composed_signature;
template <class Promise, std::size_t Index, class R, class... Args>
struct co_composed_signature<Promise, Index, R(Args...)> {
  using results = co_composed_results<Index, Args...>;

  struct completing {
    results complete(Args... args) { return {{std::forward<Args>(args)...}}; }
  };
  struct returning {
    void return_value(std::tuple<stored_result_t<Args>...> values) {
      static_cast<Promise*>(this)->complete(results{std::move(values)});
    }
  };
};

template <class Promise>
struct co_composed_returning_nothing {
  void return_void() { static_cast<Promise*>(this)->complete(co_composed_results<0>()); }
};

/// And for all of them.
template <class Promise, class Indices, class... Signatures>
struct co_composed_signatures;
template <class Promise, std::size_t... Indices, class... Signatures>
struct co_composed_signatures<Promise, std::index_sequence<Indices...>, Signatures...> {
  using exit =
      std::variant<std::monostate, std::exception_ptr,
                   typename co_composed_signature<Promise, Indices, Signatures>::results...>;

  struct completing : co_composed_signature<Promise, Indices, Signatures>::completing... {
    using co_composed_signature<Promise, Indices, Signatures>::completing::complete...;
  };
  struct returning_values : co_composed_signature<Promise, Indices, Signatures>::returning... {
    using co_composed_signature<Promise, Indices, Signatures>::returning::return_value...;
  };
  static constexpr bool returns_nothing = (std::is_same_v<Signatures, void()> && ...);
  using returning =
      std::conditional_t<returns_nothing, co_composed_returning_nothing<Promise>, returning_values>;
};

template <class Self, class... Signatures>
class co_composed_promise;

template <class Self, class... Signatures>
using co_composed_signatures_t = co_composed_signatures<co_composed_promise<Self, Signatures...>,
                                                        std::index_sequence_for<Signatures...>,
                                                        plain_signature_t<Signatures>...>;

/// Where the function that resumes a coroutine learns, on its own stack, that it has ended: whoever
/// is told so owns the frame. Otherwise the frame may be gone.
template <class Self, class... Signatures>
struct co_composed_exit {
  co_composed_promise<Self, Signatures...>* promise = nullptr;
  typename co_composed_signatures_t<Self, Signatures...>::exit result;

  /// Completes the operation if the coroutine has ended: the frame goes first.
  void leave() {
    if (result.index() == 0)
      return;
    Self self(std::move(promise->self()));
    promise->handle().destroy();
    std::visit(
        [&](auto& r) {
          using type = std::remove_reference_t<decltype(r)>;
          if constexpr (std::is_same_v<type, std::exception_ptr>)
            std::rethrow_exception(std::move(r));
          else if constexpr (!std::is_same_v<type, std::monostate>)
            r.give_to(self);
        },
        result);
  }
};

}  // namespace detail

/// The first argument of a coroutine that co_composed makes an operation of: what it has to do with
/// the operation's handler.
template <class Self, class... Signatures>
class co_composed_state : public detail::co_composed_signatures_t<Self, Signatures...>::completing {
 public:
  using io_executor_type = decltype(std::declval<const Self&>().get_io_executor());

  co_composed_state(Self&& self, detail::co_composed_exit<Self, Signatures...>& exit)
      : self_(std::move(self)), exit_(&exit) {}

  /// The executor of the first I/O object.
  io_executor_type get_io_executor() const noexcept { return self_.get_io_executor(); }

  /// The state that chains the handler's cancellation slot to the operations that are awaited.
  cancellation_state get_cancellation_state() const noexcept {
    return self_.get_cancellation_state();
  }
  /// What has been requested so far, as the filter let it pass.
  cancellation_type cancelled() const noexcept { return self_.cancelled(); }
  /// Forgets that, and sets what passes from now on; without a filter, terminal requests.
  template <class... Filters>
    requires(sizeof...(Filters) <= 2)
  void reset_cancellation_state(Filters&&... filters) {
    self_.reset_cancellation_state(std::forward<Filters>(filters)...);
  }

  /// Whether co_await throws `operation_aborted`, and starts nothing, once the operation has been
  /// cancelled. It is not so unless changed.
  bool throw_if_cancelled() const noexcept { return throws_if_cancelled_; }
  void throw_if_cancelled(bool value) noexcept { throws_if_cancelled_ = value; }

 private:
  friend detail::co_composed_promise<Self, Signatures...>;

  Self self_;
  detail::co_composed_exit<Self, Signatures...>* exit_;
  bool throws_if_cancelled_ = false;
};

namespace detail {

/// The promise of such a coroutine: what an operation_awaiter takes for a logical thread. As an
/// operation it stands in an executor's queue after many operations that completed at once.
template <class Self, class... Signatures>
class co_composed_promise final : public operation,
                                  public co_composed_signatures_t<Self, Signatures...>::returning {
  using state = co_composed_state<Self, Signatures...>;
  using frame = allocated_frame<typename Self::allocator_type>;

 public:
  using executor_type = typename Self::executor_type;
  using allocator_type = typename Self::allocator_type;

  template <class Implementation, class... Args>
  co_composed_promise(Implementation&, state& s, Args&...) noexcept : co_composed_promise(s) {}
  template <class... Args>
  explicit co_composed_promise(state& s, Args&...) noexcept : co_composed_promise(s) {}
  explicit co_composed_promise(state& s) noexcept : operation(&run), state_(s) {
    run_into(*s.exit_);
  }

  template <class Implementation, class... Args>
  static void* operator new(std::size_t size, Implementation&, state& s, Args&...) {
    return frame::allocate(size, s.self_.get_allocator());
  }
  template <class... Args>
  static void* operator new(std::size_t size, state& s, Args&...) {
    return frame::allocate(size, s.self_.get_allocator());
  }
  static void operator delete(void* memory, std::size_t size) noexcept {
    frame::deallocate(memory, size);
  }

  void get_return_object() const noexcept {}
  std::suspend_never initial_suspend() const noexcept { return {}; }
  std::suspend_always final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept {
    exit_->result.template emplace<1>(std::current_exception());
  }

  template <std::size_t Index, class... Args>
  std::suspend_always yield_value(co_composed_results<Index, Args...> results) {
    complete(std::move(results));
    return {};
  }

  template <class Operation>
  auto await_transform(Operation&& awaited) {
    static_assert(async_operation_call<Operation>,
                  "a coroutine of co_composed awaits asynchronous operations");
    arm(self().get_cancellation_state());
    if (state_.throws_if_cancelled_ && !!self().cancelled()) [[unlikely]]
      throw_cancelled();
    return operation_awaiter<std::decay_t<Operation>, co_composed_promise>(
        std::forward<Operation>(awaited), *this);
  }

  Self& self() const noexcept { return state_.self_; }
  std::coroutine_handle<co_composed_promise> handle() noexcept {
    return std::coroutine_handle<co_composed_promise>::from_promise(*this);
  }

  template <class Results>
  void complete(Results&& results) {
    exit_->result.template emplace<std::decay_t<Results>>(std::forward<Results>(results));
  }
  void run_into(co_composed_exit<Self, Signatures...>& exit) noexcept {
    exit.promise = this;
    exit_ = &exit;
  }

  executor_type get_executor() const noexcept { return self().get_executor(); }
  allocator_type get_allocator() const noexcept { return self().get_allocator(); }
  cancellation_slot get_cancellation_slot() const noexcept {
    return self().get_cancellation_slot();
  }
  bool may_go_on() noexcept { return ++in_place_ <= logical_thread_base::most_in_place; }
  bool resume_later() noexcept {
    in_place_ = 0;
    return post_to(get_executor(), this);
  }
  void resume() {
    in_place_ = 0;
    self()(*this);
  }

 private:
  static void run(operation* base, action what) {
    if (what == action::describe)
      return describe<Self>(base, true);
    auto* const promise = static_cast<co_composed_promise*>(base);
    if (what == action::destroy) {
      if (!handover::destroyed(base))
        promise->handle().destroy();
      return;
    }
    handover::called(base);
    promise->resume();
  }

  state& state_;
  co_composed_exit<Self, Signatures...>* exit_;
  unsigned in_place_ = 0;
};

/// The implementation of the composed operation whose steps are those of a coroutine.
template <class Implementation, class... Signatures>
class co_composed_driver {
  static_assert(std::is_empty_v<Implementation> || std::is_pointer_v<Implementation>,
                "co_composed: the lambda is gone before its coroutine ends: instead of captures, "
                "give it what it needs as arguments of async_initiate");

 public:
  template <class I>
  explicit co_composed_driver(I&& implementation)
      : implementation_(std::forward<I>(implementation)) {}

  template <class Self, class... Args>
  void operator()(Self& self, Args&&... args) {
    co_composed_exit<Self, Signatures...> exit;
    implementation_(co_composed_state<Self, Signatures...>(std::move(self), exit),
                    std::forward<Args>(args)...);
    exit.leave();
  }
  template <class Self>
  void operator()(Self&, co_composed_promise<Self, Signatures...>& promise) {
    co_composed_exit<Self, Signatures...> exit;
    promise.run_into(exit);
    promise.handle().resume();
    exit.leave();
  }

 private:
  [[no_unique_address]] Implementation implementation_;
};

}  // namespace detail

/// Makes the initiation of an operation out of a coroutine that returns void, and whose first
/// parameter is its `state`, by value; the others are the extra arguments of async_initiate.
///
///     template <class Token>
///     auto async_echo(ip::tcp::socket& socket, Token&& token) {
///       return async_initiate<Token, void(error_code)>(
///           co_composed<void(error_code)>(
///               [](auto state, ip::tcp::socket& peer) -> void {
///                 char data[1024];
///                 for (;;) {
///                   auto [ec, n] = co_await peer.async_read_some(buffer(data), as_tuple);
///                   if (ec)
///                     co_yield state.complete(ec);
///                   co_await async_write(peer, buffer(data, n));
///                 }
///               },
///               socket),
///           token, std::ref(socket));
///     }
///
/// The coroutine awaits asynchronous operations, as an awaitable does. It completes the operation
/// by `co_yield state.complete(results...)`, after which it is destroyed, or by `co_return` of a
/// tuple of the results (of nothing, for `void()`); it must not run off its end otherwise. What
/// leaves it by an exception leaves the initiating function or `run()`, and the operation ends
/// without completing: catch it.
///
/// State: `get_io_executor()`, `get_cancellation_state()`, `cancelled()`,
///   `reset_cancellation_state(...)`, `throw_if_cancelled()`, `complete(...)`.
/// It runs in the handler's associated executor, and its frame, and what it awaits, are in memory
/// of the handler's associated allocator, which is given back before the handler is called. Work is
/// kept outstanding on the executors of `io_objects_or_executors`. If it completes inside the
/// initiating function, the handler goes through its immediate executor.
///
/// Cancellation: terminal, unless `reset_cancellation_state` says otherwise; the request goes on to
/// the operation that is awaited. Captures are refused: they would be gone before the coroutine.
template <completion_signature... Signatures, class Implementation, class... IoObjectsOrExecutors>
auto co_composed(Implementation&& implementation,
                 IoObjectsOrExecutors&&... io_objects_or_executors) {
  using driver = detail::co_composed_driver<std::decay_t<Implementation>, Signatures...>;
  return composed<Signatures...>(driver(std::forward<Implementation>(implementation)),
                                 std::forward<IoObjectsOrExecutors>(io_objects_or_executors)...);
}

}  // namespace WEFT_NAMESPACE

template <class Implementation, class Self, class... Signatures, class... Args>
struct std::coroutine_traits<void, Implementation&,
                             WEFT_NAMESPACE::co_composed_state<Self, Signatures...>, Args...> {
  using promise_type = WEFT_NAMESPACE::detail::co_composed_promise<Self, Signatures...>;
};
template <class Self, class... Signatures, class... Args>
struct std::coroutine_traits<void, WEFT_NAMESPACE::co_composed_state<Self, Signatures...>,
                             Args...> {
  using promise_type = WEFT_NAMESPACE::detail::co_composed_promise<Self, Signatures...>;
};
