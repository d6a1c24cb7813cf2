// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/async/disposition.hpp>
#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

class outcome_error {
 public:
  explicit operator bool() const noexcept { return has_value(); }
  /// Whether it succeeded.
  bool has_value() const noexcept { return has_value_; }
  /// Whether it failed.
  bool has_error() const noexcept { return error_ != nullptr; }
  /// Why it failed, or null.
  const std::exception_ptr& error() const noexcept { return error_; }
  /// Makes it a failure. Precondition: it is empty.
  void set_error(std::exception_ptr error) noexcept {
    expect_empty();
    error_ = std::move(error);
  }

 protected:
  void expect_empty() const noexcept {
    assert(!has_value_ && !error_ && "an outcome is set once: assign a new one to it");
  }
  void check() const {
    assert((has_value_ || error_) && "what has not ended yet is asked for its outcome");
    if (error_) [[unlikely]]
      std::rethrow_exception(error_);
  }

  std::exception_ptr error_;
  bool has_value_ = false;
};

}  // namespace detail

/// What came of something: a value, or an exception; or nothing yet, as long as it has not ended.
///
///     auto [a, b] = co_await when_all(first(), second());
///     if (a)
///       use(a.get(), b.error());
///
/// `T` is void, an object type that can be moved, or an lvalue reference. Thread safety: distinct
/// objects.
template <class T>
class outcome : public detail::outcome_error {
 public:
  using value_type = T;

  outcome() noexcept {}
  outcome(outcome&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : outcome_error(other) {
    if (has_value_)
      std::construct_at(std::addressof(value_), std::move(other.value_));
  }
  outcome(const outcome& other)
    requires std::is_copy_constructible_v<T>
      : outcome_error(other) {
    if (has_value_)
      std::construct_at(std::addressof(value_), other.value_);
  }
  outcome& operator=(outcome other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    clear();
    error_ = std::move(other.error_);
    if (other.has_value_)
      set_value(std::move(other.value_));
    return *this;
  }
  ~outcome() { clear(); }

  /// Makes it a success. Precondition: it is empty. Throws what the constructor throws.
  template <class... Args>
  void set_value(Args&&... args) {
    expect_empty();
    std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
    has_value_ = true;
  }

  /// The value; throws what it has failed with. Precondition: it has ended.
  T& get() & {
    check();
    return value_;
  }
  const T& get() const& {
    check();
    return value_;
  }
  T get() && {
    check();
    return std::move(value_);
  }

 private:
  void clear() noexcept {
    if (std::exchange(has_value_, false))
      std::destroy_at(std::addressof(value_));
  }

  union {
    T value_;
  };
};

template <class T>
class outcome<T&> : public detail::outcome_error {
 public:
  using value_type = T&;

  void set_value(T& value) noexcept {
    expect_empty();
    value_ = std::addressof(value);
    has_value_ = true;
  }
  T& get() const {
    check();
    return *value_;
  }

 private:
  T* value_ = nullptr;
};

template <>
class outcome<void> : public detail::outcome_error {
 public:
  using value_type = void;

  void set_value() noexcept {
    expect_empty();
    has_value_ = true;
  }
  void get() const { check(); }
};

namespace detail {

/// Makes `made` what a future of an operation with these results would have.
template <class T, class First, class... Rest>
  requires disposition<std::decay_t<First>>
void set_outcome(outcome<T>& made, First&& first, Rest&&... rest) {
  if (first != no_error)
    made.set_error(WEFT_NAMESPACE::to_exception_ptr(std::forward<First>(first)));
  else
    made.set_value(std::forward<Rest>(rest)...);
}
template <class T, class... Results>
void set_outcome(outcome<T>& made, Results&&... results) {
  made.set_value(std::forward<Results>(results)...);
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
