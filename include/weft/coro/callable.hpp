// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/coro/awaitable_promise.hpp>
#include <weft/coro/coroutine_result.hpp>
#include <weft/coro/frame_memory.hpp>
#include <weft/coro/unscheduled_thread.hpp>

namespace WEFT_NAMESPACE {

/// A coroutine that needs no executor and no context: ordinary code starts it, and resumes it.
///
///     callable<int> sum(resume_event<int>& next) {
///       int total = 0;
///       while (const int n = co_await next)
///         total += n;
///       co_return total;
///     }
///     resume_event<int> next;
///     callable<int> c = sum(next);
///     c.start();
///     for (int n : {1, 2, 0})
///       next.resume(n);
///     use(c.get());
///
/// In its body, and in the tasks that it calls, co_await takes tasks and whatever is awaitable by
/// itself: a resume_event, or std::suspend_always, after which `resume()` goes on. An asynchronous
/// operation needs an executor, and throws std::logic_error.
///
/// Any coroutine may await it, once: one that has not been started is called as a task is, then in
/// the caller's logical thread; of one that has, it waits for the end, after which it goes on where
/// that came.
///
/// Destroyed before its end, it destroys the coroutines that it has called, the innermost first.
/// Those who start, resume, await and destroy it take turns. `T`, frames, and lambdas, as with
/// task.
template <class T = void>
class [[nodiscard]] callable : private detail::awaitable_frame::call {
  class promise;
  class awaiter;
  using frame = std::coroutine_handle<promise>;

 public:
  using value_type = T;
  using promise_type = promise;

  callable(callable&& other) noexcept : call(std::exchange(other.callee_, nullptr)) {}
  callable& operator=(callable&& other) noexcept {
    callable old(std::move(other));
    std::swap(this->callee_, old.callee_);
    return *this;
  }
  ~callable() {
    if (callee_)
      get_promise().own.unwind();
  }

  /// Whether there is a coroutine.
  bool valid() const noexcept { return static_cast<bool>(callee_); }

  /// Runs the coroutine to its first wait, or to its end. Once. `where` is for dump_tasks().
  void start(std::source_location where = std::source_location::current()) {
    assert(valid() && get_promise().own.may_start() &&
           "a callable is started once, unless a coroutine awaits it");
    get_promise().own.record(where);
    get_promise().own.start(get_promise(), *this);
  }

  /// Goes on with a coroutine that waits for nothing but this (std::suspend_always).
  void resume() {
    assert(is_started() && !done() && "a callable is resumed from its start to its end");
    get_promise().own.resume();
  }

  bool is_started() const noexcept { return valid() && get_promise().own.is_started(); }
  bool done() const noexcept { return valid() && callee_.done(); }

  /// What the coroutine has returned, moved; throws what has left it. Precondition: it is done.
  T get() {
    assert(done() && "a callable's result is there when it is done");
    return get_promise().take();
  }

  /// Waits for its end, and gives what `get()` does.
  awaiter operator co_await() noexcept {
    assert(valid() && "a callable is awaited after it has been moved from");
    return awaiter(*this);
  }

 private:
  explicit callable(frame f) noexcept : call(f) {}

  promise& get_promise() const noexcept { return frame::from_address(callee_.address()).promise(); }
};

template <class T>
class callable<T>::promise : public detail::awaitable_promise_base<detail::logical_thread_base>,
                             public detail::coroutine_result<T> {
  struct end {
    promise& self;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
      if (self.end_on_stack())
        return std::noop_coroutine();
      return self.return_later();
    }
    void await_resume() const noexcept {}
  };

 public:
  callable get_return_object() noexcept { return callable(frame::from_promise(*this)); }
  end final_suspend() noexcept { return {*this}; }

  detail::unscheduled_thread own;
};

template <class T>
class callable<T>::awaiter {
 public:
  explicit awaiter(callable& c) noexcept : callable_(&c) {}

  bool await_ready() const noexcept { return callable_->done(); }
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) noexcept {
    promise& callee = callable_->get_promise();
    assert(!callee.own.is_awaited() && "a callable is awaited by one coroutine, once");
    if constexpr (std::is_base_of_v<detail::awaitable_frame, Caller>) {
      if (!callee.own.is_started()) {
        callee.own.called_elsewhere();
        caller.promise().goes_on_elsewhere();
        return callee.run_from(caller.promise(), *callable_);
      }
      callee.own.wait(caller, waiter_, &caller.promise().get_thread());
      return true;
    } else {
      callee.own.wait(caller, waiter_);
      return callee.own.is_started() || callee.own.start(callee, *callable_);
    }
  }
  T await_resume() { return callable_->get_promise().take(); }

 private:
  callable* callable_;
  detail::unscheduled_thread::waiter waiter_;
};

}  // namespace WEFT_NAMESPACE
