// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/coro/awaitable_promise.hpp>
#include <weft/coro/frame_memory.hpp>

namespace WEFT_NAMESPACE {

/// A generator whose body may wait: a coroutine that yields elements to another one, which awaits
/// each.
///
///     async_generator<std::string> lines(tcp::socket& socket) {
///       std::string data;
///       for (;;) {
///         const std::size_t n = co_await async_read_until(socket, dynamic_buffer(data), '\n');
///         co_yield data.substr(0, n);
///         data.erase(0, n);
///       }
///     }
///     while (auto line = co_await source.next())
///       use(*line);
///
/// Between `co_await g.next()` and the next co_yield it runs as a task does that the consumer
/// calls: in the consumer's logical thread, so that what cancels the consumer cancels what the
/// generator waits for, and takes the same in co_await. Each `next()` may come from another
/// coroutine, as long as there is one at a time.
///
/// What leaves the body leaves `co_await next()`, and ends the generator. It may be destroyed
/// before its end, unless a consumer waits; a consumer that is destroyed while it waits destroys
/// the generator's coroutine first.
///
/// `T` is an object type that can be moved, or an lvalue reference. Frames, and lambdas, as with
/// task. Each step is O(1) and allocates nothing.
template <class T>
class [[nodiscard]] async_generator : private detail::awaitable_frame::call {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_void_v<T>,
                "an async_generator yields objects, or lvalue references");
  // A reference is kept as a pointer.
  using element = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

  class promise;
  class next_call;

 public:
  using value_type = std::remove_cvref_t<T>;
  using promise_type = promise;

  async_generator(async_generator&& other) noexcept : call(std::exchange(other.callee_, nullptr)) {
    assert((!callee_ || !get().is_running()) && "an async_generator is moved while a next() waits");
  }
  async_generator& operator=(async_generator&& other) noexcept {
    async_generator old(std::move(other));
    std::swap(callee_, old.callee_);
    return *this;
  }
  ~async_generator() {
    assert((!callee_ || !get().is_running()) &&
           "an async_generator is destroyed while a next() waits: cancel the consumer first");
  }

  /// Runs the coroutine to its next co_yield: `co_await next()` is a std::optional<T> with what
  /// that was given (for a reference, a pointer to it), or nothing when the coroutine has ended,
  /// and ever after. Throws what leaves the coroutine.
  next_call next() noexcept { return next_call(*this); }

 private:
  using frame = std::coroutine_handle<promise>;

  explicit async_generator(frame f) noexcept : call(f) {}

  promise& get() const noexcept { return frame::from_address(callee_.address()).promise(); }
};

template <class T>
class async_generator<T>::promise
    : public detail::awaitable_promise_base<detail::logical_thread_base> {
 public:
  async_generator get_return_object() noexcept {
    return async_generator(frame::from_promise(*this));
  }
  /// At its end, as at each co_yield, it goes back to the consumer.
  auto final_suspend() noexcept { return back{*this}; }

  /// The consumer `caller` waits for the next element.
  std::coroutine_handle<> go_on(detail::awaitable_frame& caller, call& by) noexcept {
    assert(!is_running_ && "an async_generator has one consumer at a time");
    is_running_ = true;
    caller.leave_stack();
    this->call_from(caller, by);
    this->on_stack_ = nullptr;
    this->goes_on_elsewhere();
    return detail::resume_loop::transfer(this->handle(), *this->thread_);
  }

  /// What is converted to a reference is a temporary of the co_yield expression, and lives until
  /// the consumer asks for the next element.
  auto yield_value(T value) noexcept
    requires std::is_reference_v<T>
  {
    element_ = std::addressof(value);
    return final_suspend();
  }
  template <std::convertible_to<T> U = T>
  auto yield_value(U&& value)
    requires(!std::is_reference_v<T>)
  {
    element_.emplace(std::forward<U>(value));
    return final_suspend();
  }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  /// Whether a consumer's logical thread is in it.
  bool is_running() const noexcept { return is_running_; }

 private:
  friend next_call;

  struct back {
    promise& self;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
      return self.return_later();
    }
    void await_resume() const noexcept {}
  };

  std::optional<element> element_;
  std::exception_ptr error_;
  bool is_running_ = false;
};

template <class T>
class async_generator<T>::next_call {
 public:
  explicit next_call(async_generator& generator) noexcept : generator_(&generator) {}

  bool await_ready() const noexcept {
    assert(generator_->callee_ && "an async_generator is awaited after it has been moved from");
    return generator_->callee_.done();
  }
  template <class Caller>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Caller> caller) noexcept {
    static_assert(std::is_base_of_v<detail::awaitable_frame, Caller>,
                  "an async_generator is consumed by an awaitable, a task or a callable");
    return generator_->get().go_on(caller.promise(), *generator_);
  }
  std::optional<element> await_resume() {
    promise& callee = generator_->get();
    callee.is_running_ = false;
    if (callee.error_) [[unlikely]]
      std::rethrow_exception(std::exchange(callee.error_, nullptr));
    return std::exchange(callee.element_, std::nullopt);
  }

 private:
  async_generator* generator_;
};

}  // namespace WEFT_NAMESPACE
