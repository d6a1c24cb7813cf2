// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>
#include <weft/sync/future_state.hpp>

namespace WEFT_NAMESPACE::detail {

class future_waits;

/// An operation that waits for a future, completed by the scheduler whose handler it has.
///
/// Who produces the result may outlive that scheduler's context, and then must find nothing to
/// tell. So an operation whose producer is not queued with the very same scheduler is on a list of
/// its context (future_waits), whose shutdown takes it away from the producer, and destroys it.
class WEFT_API future_wait : public operation, private future_waiter {
 public:
  scheduler& owner() const noexcept { return owner_; }
  bool try_complete() noexcept { return state_->is_ready(); }
  bool start() noexcept;
  void cancel(cancellation_type) noexcept;
  void retain() noexcept {}  // it holds a reference to the state as long as it lives

  /// Whether it did not start, for another waits already.
  bool is_taken() const noexcept { return ending_ == ending::is_taken; }

 protected:
  enum class ending : unsigned char { is_ready, aborted, is_taken };

  future_wait(operation::function f, scheduler& owner,
              future_reference<future_state_base> state) noexcept
      : operation(f), future_waiter(&tell), owner_(owner), state_(std::move(state)) {
    assert(state_ && "what a future has returned is awaited once");
  }
  ~future_wait() = default;

  future_state_base& state() noexcept { return *state_; }
  /// From here on the state is kept by another.
  void forget_state() noexcept { static_cast<void>(state_.release()); }
  ending how() const noexcept { return ending_; }

 private:
  friend class future_waits;

  static void tell(future_waiter* waiter) noexcept;

  scheduler& owner_;
  future_reference<future_state_base> state_;
  // The list that it is on, if any, and its neighbours there, guarded by the list's mutex.
  future_waits* list_ = nullptr;
  future_wait* next_ = nullptr;
  future_wait* previous_ = nullptr;
  ending ending_ = ending::is_ready;
};

/// Waits until the future is ready, which keeps its result.
class future_ready_wait : public future_wait {
 public:
  template <class Initiation>
  future_ready_wait(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : future_wait(f, owner, std::move(initiation.state)) {}

  operation_results<error_code> take_results() noexcept {
    switch (how()) {
      case ending::aborted: return {error::operation_aborted};
      case ending::is_taken:
        return {std::make_error_code(std::future_errc::future_already_retrieved)};
      case ending::is_ready: break;
    }
    return {error_code()};
  }
};

/// The same for a handler that owns the future, and so keeps the state until this has ended.
class future_callback_wait : public future_ready_wait {
  struct lent {
    future_reference<future_state_base> state;
  };

 public:
  future_callback_wait(operation::function f, scheduler& owner, future_state_base& state) noexcept
      : future_ready_wait(f, owner, lent{future_reference<future_state_base>(&state)}) {}
  ~future_callback_wait() { forget_state(); }
};

/// How the result of a future is passed to a handler: as `argument`, after the exception.
template <class T>
struct future_argument {
  static_assert(std::is_default_constructible_v<T>,
                "a handler of async_get gets a value made by default with an exception: wait with "
                "async_wait for a result that cannot be made so");
  using signature = void(std::exception_ptr, T);
  using results = operation_results<std::exception_ptr, T>;
  static results failure(std::exception_ptr error) { return {std::move(error), T()}; }
  template <class Outcome>
  static results success(Outcome&& result) {
    return {std::exception_ptr(), std::forward<Outcome>(result).get()};
  }
};
template <class T>
struct future_argument<T&> {
  using signature = void(std::exception_ptr, T*);
  using results = operation_results<std::exception_ptr, T*>;
  static results failure(std::exception_ptr error) { return {std::move(error), nullptr}; }
  template <class Outcome>
  static results success(Outcome&& result) {
    return {std::exception_ptr(), &result.get()};
  }
};
template <>
struct future_argument<void> {
  using signature = void(std::exception_ptr);
  using results = operation_results<std::exception_ptr>;
  static results failure(std::exception_ptr error) { return {std::move(error)}; }
  template <class Outcome>
  static results success(Outcome&&) {
    return {std::exception_ptr()};
  }
};

/// Waits for the result of a future, and takes it, or a copy.
template <class T, bool Copies>
class future_get_wait : public future_wait {
  using argument = future_argument<T>;

 public:
  template <class Initiation>
  future_get_wait(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : future_wait(f, owner, std::move(initiation.state)) {}

  typename argument::results take_results() {
    switch (this->how()) {
      case ending::aborted: return argument::failure(make_aborted());
      case ending::is_taken:
        return argument::failure(make_future_error(std::future_errc::future_already_retrieved));
      case ending::is_ready: break;
    }
    auto& result = static_cast<future_state<T>&>(this->state()).result;
    if (result.has_error())
      return argument::failure(result.error());
    try {
      if constexpr (Copies)
        return argument::success(std::as_const(result));
      else
        return argument::success(std::move(result));
    } catch (...) {
      return argument::failure(std::current_exception());
    }
  }
};

/// A waiting that may begin. The context of a handler without an executor of its own is that of
/// `executor`.
template <class Operation, class Executor>
class initiate_future_wait {
 public:
  using operation_type = Operation;
  using executor_type = Executor;

  initiate_future_wait(future_reference<future_state_base> s, const Executor& ex) noexcept
      : state(std::move(s)), executor_(ex) {}

  executor_type get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return use_scheduler(executor_context(executor_)); }

  template <class Handler>
  void operator()(Handler&& handler) && {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

  future_reference<future_state_base> state;

 private:
  [[no_unique_address]] Executor executor_;
};

}  // namespace WEFT_NAMESPACE::detail
