// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <future>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/async/disposition.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// What a future says of the results `Args...`: nothing, the value, or a tuple of the values, after
/// the disposition, if there is one, is taken off.
template <class... Values>
struct future_value {
  static_assert((std::is_constructible_v<std::decay_t<Values>, Values> && ...),
                "a future carries results that can be moved or copied into it");
  using type = std::tuple<std::decay_t<Values>...>;
};
template <>
struct future_value<> {
  using type = void;
};
template <class Value>
struct future_value<Value> {
  static_assert(std::is_constructible_v<std::decay_t<Value>, Value>,
                "a future carries results that can be moved or copied into it");
  using type = std::decay_t<Value>;
};

template <class... Args>
struct future_result {
  using type = typename future_value<Args...>::type;
};
template <class First, class... Args>
  requires disposition<std::decay_t<First>>
struct future_result<First, Args...> {
  using type = typename future_value<Args...>::type;
};

template <class Parameters>
struct future_result_of;
template <class... Args>
struct future_result_of<signature_parameters<Args...>> : future_result<Args...> {};

template <class Allocator>
class future_handler_base {
 public:
  using allocator_type = Allocator;
  allocator_type get_allocator() const noexcept { return allocator_; }

 protected:
  explicit future_handler_base(const Allocator& allocator) : allocator_(allocator) {}

  [[no_unique_address]] Allocator allocator_;
};

/// Fulfils a promise with the results of an operation. Destroyed un-called, it leaves the promise
/// broken.
template <class Result, class Allocator>
class future_handler : public future_handler_base<Allocator> {
 public:
  explicit future_handler(const Allocator& allocator)
      : future_handler_base<Allocator>(allocator), promise_(std::allocator_arg, allocator) {}

  std::future<Result> get_future() { return promise_.get_future(); }

  void operator()() { promise_.set_value(); }

  template <class First, class... Args>
  void operator()(First&& first, Args&&... args) {
    if constexpr (disposition<std::decay_t<First>>) {
      if (first != no_error)
        promise_.set_exception(WEFT_NAMESPACE::to_exception_ptr(std::forward<First>(first)));
      else
        promise_.set_value(Result(std::forward<Args>(args)...));
    } else {
      promise_.set_value(Result(std::forward<First>(first), std::forward<Args>(args)...));
    }
  }

 private:
  std::promise<Result> promise_;
};

template <class Allocator>
class future_handler<void, Allocator> : public future_handler_base<Allocator> {
 public:
  explicit future_handler(const Allocator& allocator)
      : future_handler_base<Allocator>(allocator), promise_(std::allocator_arg, allocator) {}

  std::future<void> get_future() { return promise_.get_future(); }

  void operator()() { promise_.set_value(); }

  /// Also takes what converts to an error_code: a value of an error enum.
  void operator()(error_code ec) { operator()<error_code>(ec); }

  template <disposition First>
  void operator()(First first) {
    if (first != no_error)
      promise_.set_exception(WEFT_NAMESPACE::to_exception_ptr(std::move(first)));
    else
      promise_.set_value();
  }

 private:
  std::promise<void> promise_;
};

/// Calls a function with the results of an operation, and fulfils a promise with what it returns or
/// throws.
template <class Result, class Function, class Allocator>
class packaged_handler : public future_handler_base<Allocator> {
 public:
  template <class F>
  packaged_handler(F&& function, const Allocator& allocator)
      : future_handler_base<Allocator>(allocator),
        promise_(std::allocator_arg, allocator),
        function_(std::forward<F>(function)) {}

  std::future<Result> get_future() { return promise_.get_future(); }

  template <class... Args>
  void operator()(Args&&... args) {
    try {
      if constexpr (std::is_void_v<Result>) {
        std::move(function_)(std::forward<Args>(args)...);
        promise_.set_value();
      } else {
        promise_.set_value(std::move(function_)(std::forward<Args>(args)...));
      }
    } catch (...) {
      promise_.set_exception(std::current_exception());
    }
  }

 private:
  std::promise<Result> promise_;
  Function function_;
};

template <class Function, class Parameters>
struct packaged_result;
template <class Function, class... Args>
struct packaged_result<Function, signature_parameters<Args...>>
    : std::invoke_result<Function, Args...> {};

template <class Signature>
using parameters_of = typename plain_signature<Signature>::parameters;

}  // namespace detail

/// The token `use_future(f)`: the future holds what `f`, called with the results, returns or
/// throws.
template <class Function, class Allocator>
class packaged_token {
 public:
  template <class F>
  constexpr packaged_token(F&& function, const Allocator& allocator)
      : function_(std::forward<F>(function)), allocator_(allocator) {}

  Function function_;
  [[no_unique_address]] Allocator allocator_;
};

/// The token that makes an initiating function return a std::future of the results:
///     std::future<std::size_t> n = socket.async_read_some(buffer, use_future);
/// One result gives a future of it, several a future of a tuple. An error_code or other disposition
/// in front is taken off; an error becomes the future's exception, system_error for an error_code.
/// `use_future(f)` passes the results through `f` first; `use_future[allocator]` and
/// `use_future.rebind(allocator)` say where the shared state comes from.
///
/// The future is ready when the handler would have been called. If the operation's context is
/// destroyed first, the future reports std::future_errc::broken_promise. Do not wait for it on the
/// only thread that runs the context.
template <class Allocator = std::allocator<void>>
class use_future_t {
 public:
  using allocator_type = Allocator;

  constexpr use_future_t() = default;
  explicit constexpr use_future_t(const Allocator& allocator) : allocator_(allocator) {}

  template <class OtherAllocator>
  use_future_t<OtherAllocator> rebind(const OtherAllocator& allocator) const {
    return use_future_t<OtherAllocator>(allocator);
  }
  template <class OtherAllocator>
  use_future_t<OtherAllocator> operator[](const OtherAllocator& allocator) const {
    return use_future_t<OtherAllocator>(allocator);
  }

  allocator_type get_allocator() const { return allocator_; }

  template <class Function>
  constexpr packaged_token<std::decay_t<Function>, Allocator> operator()(Function&& f) const {
    return packaged_token<std::decay_t<Function>, Allocator>(std::forward<Function>(f), allocator_);
  }

 private:
  [[no_unique_address]] Allocator allocator_{};
};

inline constexpr use_future_t<> use_future;

template <class Allocator, class Signature>
class async_result<use_future_t<Allocator>, Signature> {
  using result = typename detail::future_result_of<detail::parameters_of<Signature>>::type;

 public:
  using return_type = std::future<result>;

  template <class Initiation, class Token, class... Args>
  static return_type initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    detail::future_handler<result, Allocator> handler(token.get_allocator());
    auto future = handler.get_future();
    std::forward<Initiation>(initiation)(std::move(handler), std::forward<Args>(args)...);
    return future;
  }
};

// It does not serve operations with several signatures. It can be called, as handlers are, and the
// primary template would take it for one.
template <class Allocator, class First, class Second, class... More>
class async_result<use_future_t<Allocator>, First, Second, More...> {};

template <class Function, class Allocator, class Signature>
  requires detail::is_callable_with<Function, detail::plain_signature_t<Signature>>
class async_result<packaged_token<Function, Allocator>, Signature> {
  using result = typename detail::packaged_result<Function, detail::parameters_of<Signature>>::type;

 public:
  using return_type = std::future<result>;

  template <class Initiation, class Token, class... Args>
  static return_type initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    const Allocator allocator(token.allocator_);
    detail::packaged_handler<result, Function, Allocator> handler(
        std::forward<Token>(token).function_, allocator);
    auto future = handler.get_future();
    std::forward<Initiation>(initiation)(std::move(handler), std::forward<Args>(args)...);
    return future;
  }
};

}  // namespace WEFT_NAMESPACE
