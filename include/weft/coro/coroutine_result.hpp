// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/coro/awaitable_frame.hpp>

namespace WEFT_NAMESPACE::detail {

/// Keeps what a coroutine returns, or what leaves it, until it is taken, once.
template <class T>
class coroutine_result {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "the frame of a coroutine is aligned as operator new aligns: return a pointer");

 public:
  coroutine_result() noexcept {}
  coroutine_result(const coroutine_result&) = delete;
  coroutine_result& operator=(const coroutine_result&) = delete;
  ~coroutine_result() {
    if (state_ == state::value)
      std::destroy_at(std::addressof(value_));
    else if (state_ == state::exception)
      std::destroy_at(std::addressof(exception_));
  }

  template <class U = T>
    requires std::constructible_from<T, U>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    std::construct_at(std::addressof(value_), std::forward<U>(value));
    state_ = state::value;
  }
  void unhandled_exception() noexcept {
    if (state_ == state::value)  // a destructor has thrown after the value was returned
      std::destroy_at(std::addressof(value_));
    std::construct_at(std::addressof(exception_), std::current_exception());
    state_ = state::exception;
  }

  bool has_exception() const noexcept { return state_ == state::exception; }
  std::exception_ptr take_exception() noexcept { return std::move(exception_); }

  /// Precondition: the coroutine has ended.
  T take() {
    if (state_ == state::exception) [[unlikely]]
      std::rethrow_exception(std::move(exception_));
    return std::move(value_);
  }

 private:
  enum class state : unsigned char { running, value, exception };

  union {
    T value_;
    std::exception_ptr exception_;
  };
  state state_ = state::running;
};

template <class T>
class coroutine_result<T&> {
 public:
  void return_value(T& value) noexcept { value_ = std::addressof(value); }
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

  bool has_exception() const noexcept { return exception_ != nullptr; }
  std::exception_ptr take_exception() noexcept { return std::move(exception_); }

  T& take() {
    if (exception_) [[unlikely]]
      std::rethrow_exception(std::move(exception_));
    return *value_;
  }

 private:
  T* value_ = nullptr;
  std::exception_ptr exception_;
};

template <>
class coroutine_result<void> {
 public:
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

  bool has_exception() const noexcept { return exception_ != nullptr; }
  std::exception_ptr take_exception() noexcept { return std::move(exception_); }

  void take() {
    if (exception_) [[unlikely]]
      std::rethrow_exception(std::move(exception_));
  }

 private:
  std::exception_ptr exception_;
};

/// The part of a co_await, or of what stands in for one, that a coroutine returns to.
template <class T>
class result_call : public awaitable_frame::call {
 public:
  explicit result_call(std::coroutine_handle<> callee = nullptr) noexcept : call(callee) {}

  void own(std::coroutine_handle<> callee) noexcept { this->callee_ = callee; }
  template <class Promise>
  Promise& callee() const noexcept {
    return std::coroutine_handle<Promise>::from_address(this->callee_.address()).promise();
  }
  using call::destroy_callee;

  coroutine_result<T> result;
};

}  // namespace WEFT_NAMESPACE::detail
