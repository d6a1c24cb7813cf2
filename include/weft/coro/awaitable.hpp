// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <utility>

#include <weft/coro/awaitable_promise.hpp>
#include <weft/coro/frame_memory.hpp>
#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE {

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
///   - an awaitable, or a task;
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

template <class T, class Executor>
class awaitable_promise : public returning_promise<logical_thread<Executor>, T> {
 public:
  awaitable<T, Executor> get_return_object() noexcept {
    return awaitable<T, Executor>(std::coroutine_handle<awaitable_promise>::from_promise(*this));
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
