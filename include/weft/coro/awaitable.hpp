// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/deferred.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/base/error.hpp>
#include <weft/coro/awaitable_frame.hpp>
#include <weft/coro/coroutine_result.hpp>
#include <weft/coro/direct_awaiter.hpp>
#include <weft/coro/logical_thread.hpp>
#include <weft/coro/operation_awaiter.hpp>
#include <weft/coro/this_coro.hpp>
#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T, class Executor>
class awaitable_promise;

struct awaitable_access {
  template <class Awaitable>
  static auto handle(const Awaitable& a) noexcept {
    return a.handle_;
  }
  template <class Awaitable>
  static auto release(Awaitable& a) noexcept {
    return a.release();
  }
};

/// What the language takes for awaitable without a promise's help.
template <class T>
concept plain_awaitable = requires(T&& t) { std::forward<T>(t).operator co_await(); } ||
                          requires(T&& t) { operator co_await(std::forward<T>(t)); } ||
                          requires(T& t) { t.await_ready(); };

}  // namespace detail

/// The return type of a coroutine of a logical thread, as co_spawn starts it:
///
///     awaitable<std::size_t> echo(tcp::socket& socket) {
///       char data[1024];
///       const std::size_t n = co_await socket.async_read_some(buffer(data));
///       co_await async_write(socket, buffer(data, n));
///       co_return n;
///     }
///
/// Called, such a function does nothing but keep its arguments; `co_await` of the result, once, by
/// another coroutine of the same executor type, runs it and gives what it returns, or throws what
/// leaves it. An awaitable that is destroyed without having run destroys the arguments.
///
/// In its body, co_await takes
///   - an asynchronous operation without a token (`deferred` is the default): an error code that
///     comes first in its results is taken off, and thrown as system_error if it is an error; one
///     value gives that value, several give a tuple. With the tokens `as_tuple` and
///     `redirect_error(ec)` nothing is thrown. All operations run with the logical thread's
///     executor as the associated one, and are cancelled with it;
///   - an awaitable;
///   - what this_coro names;
///   - anything else that is awaitable by itself.
///
/// After an operation it goes on in the logical thread's executor, unless a token names another
/// (`bind_executor`); after the last kind, where it is resumed. An operation that has completed
/// inside its initiating function does not suspend it, but after 32 of these in a row others have
/// their turn. If an operation ends without completing, as a `post` of a function that throws does,
/// the logical thread is destroyed, and its handler with it.
///
/// `T` is void, an object type that can be moved, or an lvalue reference. Frames are recycled per
/// thread, or come from the allocator in a parameter list that begins with `std::allocator_arg_t,
/// Allocator`, after the object if it is a member function.
///
/// g++ 12 evaluates the operand of a co_await in a branch of `?:` whether or not that branch is
/// taken: write `if`.
///
/// A lambda's captures are not kept with the frame: they are gone when the lambda is. Call it with
/// arguments instead, or give the lambda itself to co_spawn, which keeps it until its coroutine has
/// ended.
template <class T, class Executor = any_io_executor>
class [[nodiscard]] awaitable {
 public:
  using value_type = T;
  using executor_type = Executor;
  using promise_type = detail::awaitable_promise<T, Executor>;

  constexpr awaitable() noexcept = default;
  awaitable(awaitable&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  awaitable& operator=(awaitable&& other) noexcept {
    awaitable(std::move(other)).swap(*this);
    return *this;
  }
  ~awaitable() {
    if (handle_)
      handle_.destroy();
  }

  void swap(awaitable& other) noexcept { std::swap(handle_, other.handle_); }

  /// Whether there is a coroutine to run.
  bool valid() const noexcept { return static_cast<bool>(handle_); }

 private:
  friend promise_type;
  friend detail::awaitable_access;

  using handle = std::coroutine_handle<promise_type>;
  explicit awaitable(handle h) noexcept : handle_(h) {}

  handle release() noexcept { return std::exchange(handle_, nullptr); }

  handle handle_;
};

namespace detail {

template <class Executor>
class awaitable_promise_base : public awaitable_frame {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept { return return_to_caller(); }

  /// Has the coroutine, which is about to be resumed, called by another one.
  void call_from(std::coroutine_handle<> caller, awaitable_promise_base& frame, call& by) noexcept {
    thread_ = frame.thread_;
    caller_ = &frame;
    caller_handle_ = caller;
    call_ = &by;
  }
  /// Has it called by nobody: its logical thread ends with it.
  void call_from(logical_thread<Executor>& thread) noexcept { thread_ = &thread; }

  template <class U>
  auto await_transform(awaitable<U, Executor> callee,
                       std::source_location where = std::source_location::current()) {
    where_ = where;
    if (thread_->is_to_throw()) [[unlikely]]
      throw_cancelled();
    return call_of<U>(std::move(callee));
  }

  template <class Operation>
    requires(async_operation_call<Operation>)
  auto await_transform(Operation&& operation,
                       std::source_location where = std::source_location::current()) {
    where_ = where;
    if (thread_->begin_wait(*this)) [[unlikely]]
      throw_cancelled();
    return operation_awaiter<std::decay_t<Operation>, Executor>(std::forward<Operation>(operation),
                                                                *thread_);
  }

  template <class Signature, direct_initiation Initiation>
  auto await_transform(deferred_async_operation<Signature, Initiation> operation,
                       std::source_location where = std::source_location::current()) {
    where_ = where;
    if (thread_->begin_wait(*this)) [[unlikely]]
      throw_cancelled();
    return direct_awaiter<Signature, Initiation, Executor>(std::move(operation), *thread_);
  }

  template <plain_awaitable Awaitable>
    requires(!async_operation_call<Awaitable>)
  decltype(auto) await_transform(Awaitable&& awaitable,
                                 std::source_location where = std::source_location::current()) {
    where_ = where;
    thread_->begin_wait(*this);
    return std::forward<Awaitable>(awaitable);
  }

  auto await_transform(this_coro::executor_t) const noexcept {
    return at_once<const Executor&>{thread_->get_executor()};
  }
  auto await_transform(this_coro::cancellation_state_t) const noexcept {
    return at_once<cancellation_state>{thread_->cancellation};
  }
  auto await_transform(this_coro::throw_if_cancelled_0_t) const noexcept {
    return at_once<bool>{thread_->throws_if_cancelled};
  }
  std::suspend_never await_transform(this_coro::throw_if_cancelled_1_t throws) noexcept {
    thread_->throws_if_cancelled = throws.value;
    return {};
  }
  template <class InFilter, class OutFilter>
  std::suspend_never await_transform(
      this_coro::reset_cancellation_state_t<InFilter, OutFilter> filters) {
    thread_->cancellation = {};  // what it names is gone if the next fails
    thread_->cancellation = cancellation_state(thread_->parent_slot, std::move(filters.in_filter),
                                               std::move(filters.out_filter));
    return {};
  }

 private:
  template <class Value>
  struct at_once {
    Value value;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    Value await_resume() { return static_cast<Value>(value); }
  };

  struct return_to_caller {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
      awaitable_promise_base& self = h.promise();
      if (self.caller_handle_) [[likely]]
        return resume_loop::transfer(self.caller_handle_, *self.thread_);
      self.thread_->ended();
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  template <class U>
  class call_of : private call {
    using handle = std::coroutine_handle<awaitable_promise<U, Executor>>;
    handle callee() const noexcept { return handle::from_address(callee_.address()); }

   public:
    explicit call_of(awaitable<U, Executor> callee) noexcept
        : call(awaitable_access::release(callee)) {
      assert(callee_ && "an awaitable is awaited once, and not after it has been moved from");
    }

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
      awaitable_promise_base& frame = caller.promise();
      callee().promise().call_from(caller, frame, *this);
      return resume_loop::transfer(callee_, *frame.thread_);
    }
    U await_resume() { return callee().promise().take(); }
  };

  [[noreturn, gnu::noinline, gnu::cold]] static void throw_cancelled() {
    throw system_error(error::operation_aborted, "co_await");
  }

  logical_thread<Executor>* thread_ = nullptr;
};

template <class T, class Executor>
class awaitable_promise : public awaitable_promise_base<Executor>, public coroutine_result<T> {
 public:
  awaitable<T, Executor> get_return_object() noexcept {
    return awaitable<T, Executor>(std::coroutine_handle<awaitable_promise>::from_promise(*this));
  }
};

/// The promise of a coroutine that brings an allocator: the same, with the frame's memory from
/// there. The allocator is kept behind the frame.
template <class T, class Executor, class Allocator>
class allocating_awaitable_promise : public awaitable_promise<T, Executor> {
  struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) unit {
    std::byte bytes[__STDCPP_DEFAULT_NEW_ALIGNMENT__];
  };
  using allocator_type = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
  static_assert(alignof(allocator_type) <= alignof(unit));

  static std::size_t units(std::size_t size) noexcept {
    return (size + sizeof(unit) - 1) / sizeof(unit);
  }

 public:
  template <class... Args>
  static void* operator new(std::size_t size, std::allocator_arg_t, const Allocator& allocator,
                            const Args&...) {
    allocator_type own(allocator);
    const std::size_t frame = units(size);
    unit* const memory = std::to_address(std::allocator_traits<allocator_type>::allocate(
        own, frame + units(sizeof(allocator_type))));
    ::new (static_cast<void*>(memory + frame)) allocator_type(std::move(own));
    return memory;
  }
  template <class Object, class... Args>
  static void* operator new(std::size_t size, const Object&, std::allocator_arg_t,
                            const Allocator& allocator, const Args&...) {
    return operator new(size, std::allocator_arg, allocator);
  }
  static void operator delete(void* memory, std::size_t size) noexcept {
    using traits = std::allocator_traits<allocator_type>;
    auto* const first = static_cast<unit*>(memory);
    const std::size_t frame = units(size);
    auto* const kept = std::launder(reinterpret_cast<allocator_type*>(first + frame));
    allocator_type own(std::move(*kept));
    kept->~allocator_type();
    traits::deallocate(own, std::pointer_traits<typename traits::pointer>::pointer_to(*first),
                       frame + units(sizeof(allocator_type)));
  }

  awaitable<T, Executor> get_return_object() noexcept {
    // It adds no member: the handle of its base leads to the same frame.
    static_assert(sizeof(allocating_awaitable_promise) == sizeof(awaitable_promise<T, Executor>) &&
                  alignof(allocating_awaitable_promise) == alignof(awaitable_promise<T, Executor>));
    return awaitable_promise<T, Executor>::get_return_object();
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE

template <class T, class Executor, class Allocator, class... Args>
struct std::coroutine_traits<WEFT_NAMESPACE::awaitable<T, Executor>, std::allocator_arg_t,
                             Allocator, Args...> {
  using promise_type =
      WEFT_NAMESPACE::detail::allocating_awaitable_promise<T, Executor,
                                                           std::remove_cvref_t<Allocator>>;
};
template <class T, class Executor, class Object, class Allocator, class... Args>
struct std::coroutine_traits<WEFT_NAMESPACE::awaitable<T, Executor>, Object, std::allocator_arg_t,
                             Allocator, Args...> {
  using promise_type =
      WEFT_NAMESPACE::detail::allocating_awaitable_promise<T, Executor,
                                                           std::remove_cvref_t<Allocator>>;
};
