// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <coroutine>
#include <utility>

#include <weft/coro/awaitable_promise.hpp>
#include <weft/coro/coroutine_result.hpp>
#include <weft/coro/frame_memory.hpp>
#include <weft/coro/unscheduled_thread.hpp>

namespace WEFT_NAMESPACE {

/// The return type of a coroutine that is called as a function is, from any coroutine, at little
/// more than a function's cost:
///
///     task<std::string> read_line(tcp::socket& socket);
///
///     awaitable<void> session(tcp::socket socket) {
///       while (true)
///         std::string line = co_await read_line(socket);
///     }
///
/// Called, such a function does nothing but keep its arguments; `co_await` of the result, once,
/// runs it and gives what it returns, or throws what leaves it. A task that is destroyed without
/// having run destroys the arguments.
///
/// It names no executor: it runs in that of its caller. In its body, co_await takes
///   - a task;
///   - what awaitable<T> lists, if an outermost caller was started with co_spawn. Operations are
///     then cancelled with its logical thread, and complete in its executor, which
///     `this_coro::executor` gives as an any_io_executor. An awaitable must be of the type of
///     executor that the outermost caller has: any_io_executor, if that is a task or not told
///     another;
///   - whatever else is awaitable by itself, always.
/// Below no logical thread an operation throws std::logic_error. To call a task is no point of
/// cancellation: it runs on to its next operation.
///
/// Any coroutine may await it, of another library too; there it goes on in that one's place, and
/// the chain of tasks below it is destroyed with it.
///
/// `T` is void, an object type that can be moved, or an lvalue reference. Frames are recycled per
/// thread, or come from the allocator in a parameter list that begins with `std::allocator_arg_t,
/// Allocator`, after the object if it is a member function. A lambda's captures are not kept with
/// the frame: see awaitable.
template <class T = void>
class [[nodiscard]] task {
 public:
  using value_type = T;
  using promise_type = detail::task_promise<T>;

  constexpr task() noexcept = default;
  task(task&& other) noexcept : handle_(other.release()) {}
  task& operator=(task&& other) noexcept {
    task(std::move(other)).swap(*this);
    return *this;
  }
  ~task() {
    if (handle_)
      handle_.destroy();
  }

  void swap(task& other) noexcept { std::swap(handle_, other.handle_); }

  /// Whether there is a coroutine to run.
  bool valid() const noexcept { return static_cast<bool>(handle_); }

  /// For coroutines that are none of weft's.
  auto operator co_await() && noexcept { return foreign_call(release()); }

 private:
  friend promise_type;
  friend detail::awaitable_access;

  using handle = std::coroutine_handle<promise_type>;
  explicit task(handle h) noexcept : handle_(h) {}

  handle release() noexcept { return std::exchange(handle_, nullptr); }

  class foreign_call : private detail::result_call<T> {
   public:
    explicit foreign_call(handle h) noexcept : detail::result_call<T>(h) {
      assert(h && "a task is awaited once, and not after it has been moved from");
    }
    foreign_call(const foreign_call&) = delete;
    foreign_call& operator=(const foreign_call&) = delete;
    ~foreign_call() { thread_.unwind(); }

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller) noexcept {
      thread_.wait(caller, waiter_);
      return thread_.start(handle::from_address(this->callee_.address()).promise(), *this);
    }
    T await_resume() { return this->result.take(); }

   private:
    detail::unscheduled_thread thread_;
    detail::unscheduled_thread::waiter waiter_;
  };

  handle handle_;
};

namespace detail {

template <class T>
class task_promise : public returning_promise<logical_thread_base, T> {
 public:
  task<T> get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
