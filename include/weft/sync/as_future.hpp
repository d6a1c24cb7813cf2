// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <utility>

#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/executor_with_default.hpp>
#include <weft/async/use_future.hpp>
#include <weft/sync/future.hpp>

namespace WEFT_NAMESPACE {

/// The token that makes an initiating function return a weft::future, as use_future makes it return
/// a std::future: of nothing, of the value, or of a tuple, after the disposition that comes first
/// is taken off; if that is an error, the future has the exception.
///
///     future<std::size_t> n = socket.async_read_some(buffer(data), as_future);
///
/// The operation is cancelled by future::request_cancel, with all types. Callbacks that name no
/// executor run in the operation's I/O executor. An operation that ends without completing breaks
/// the promise.
class as_future_t : public detail::default_token<as_future_t> {
 public:
  constexpr as_future_t() = default;
};

inline constexpr as_future_t as_future;

namespace detail {

template <class T>
class promise_handler {
 public:
  using cancellation_slot_type = cancellation_slot;

  explicit promise_handler(promise<T>&& p)
      : promise_(std::move(p)), slot_(promise_.get_cancellation_slot()) {}

  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  template <class... Args>
  void operator()(Args&&... args) {
    outcome<T> made;
    set_outcome(made, std::forward<Args>(args)...);
    promise_.set(std::move(made));
  }

 private:
  promise<T> promise_;
  cancellation_slot slot_;
};

/// A promise for an operation of `Initiation`, whose I/O executor it has if that is known. The
/// threads of that one's context fulfil it.
template <class T, class Initiation>
promise<T> make_promise_for(const Initiation& initiation) {
  using executor = associated_executor_t<Initiation>;
  if constexpr (!std::same_as<executor, inline_executor> &&
                std::constructible_from<any_io_executor, executor>)
    return future_access::make_promise<T>(
        make_future_producer(get_associated_executor(initiation), false));
  else
    return promise<T>();
}

}  // namespace detail

template <class Signature>
class async_result<as_future_t, Signature> {
  using result = typename detail::future_result_of<detail::parameters_of<Signature>>::type;

 public:
  using return_type = future<result>;

  template <class Initiation, class Token, class... Args>
  static return_type initiate(Initiation&& initiation, Token&&, Args&&... args) {
    auto p = detail::make_promise_for<result>(initiation);
    return_type made = p.get_future();
    std::forward<Initiation>(initiation)(detail::promise_handler<result>(std::move(p)),
                                         std::forward<Args>(args)...);
    return made;
  }
};

// It does not serve operations with several signatures, and is no handler.
template <class First, class Second, class... More>
class async_result<as_future_t, First, Second, More...> {};

}  // namespace WEFT_NAMESPACE
