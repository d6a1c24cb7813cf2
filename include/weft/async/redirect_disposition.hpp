// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <weft/async/disposition.hpp>
#include <weft/async/token_adapter.hpp>

namespace WEFT_NAMESPACE {

/// Puts the operation's disposition (error_code, std::exception_ptr, a user's own) into a variable
/// instead of passing it on. A variable of type std::exception_ptr accepts them all.
///     std::exception_ptr e;
///     socket.async_read_some(buffer, redirect_disposition(handler, e));  // handler(std::size_t)
/// The variable must live until the operation has completed. Operations without a disposition are
/// left as they are. Made by `redirect_disposition(token, d)`, or, for the default token,
/// `redirect_disposition(d)`.
template <class CompletionToken, class Disposition>
class redirect_disposition_t {
 public:
  template <class T>
  redirect_disposition_t(T&& completion_token, Disposition& d)
      : token_(std::forward<T>(completion_token)), d_(d) {}

  CompletionToken token_;
  Disposition& d_;
};

template <class Disposition>
class partial_redirect_disposition {
 public:
  using is_partial_token = void;

  explicit partial_redirect_disposition(Disposition& d) : d_(d) {}

  template <class CompletionToken>
  [[nodiscard]] constexpr redirect_disposition_t<std::decay_t<CompletionToken>, Disposition>
  operator()(CompletionToken&& completion_token) const {
    return redirect_disposition_t<std::decay_t<CompletionToken>, Disposition>(
        std::forward<CompletionToken>(completion_token), d_);
  }

 private:
  Disposition& d_;
};

template <disposition Disposition>
[[nodiscard]] partial_redirect_disposition<Disposition> redirect_disposition(Disposition& d) {
  return partial_redirect_disposition<Disposition>(d);
}

template <class CompletionToken, disposition Disposition>
[[nodiscard]] redirect_disposition_t<std::decay_t<CompletionToken>, Disposition>
redirect_disposition(CompletionToken&& completion_token, Disposition& d) {
  return redirect_disposition_t<std::decay_t<CompletionToken>, Disposition>(
      std::forward<CompletionToken>(completion_token), d);
}

namespace detail {

/// Whether a result of type `T` is taken out by a redirection to a variable of type `Disposition`.
template <class T, class Disposition>
concept redirectable =
    disposition<std::decay_t<T>> && (std::is_same_v<std::decay_t<T>, Disposition> ||
                                     std::is_same_v<Disposition, std::exception_ptr> ||
                                     std::is_same_v<std::decay_t<T>, no_error_t>);

template <class Handler, class Disposition>
class redirect_disposition_handler : public handler_wrapper<Handler> {
 public:
  template <class H>
  redirect_disposition_handler(H&& handler, Disposition& d)
      : handler_wrapper<Handler>(std::in_place, std::forward<H>(handler)), d_(d) {}

  void operator()() { std::move(this->handler_)(); }

  template <class First, class... Args>
  void operator()(First&& first, Args&&... args) {
    if constexpr (redirectable<First, Disposition>) {
      if constexpr (std::is_same_v<std::decay_t<First>, Disposition>)
        d_ = std::forward<First>(first);
      else if constexpr (std::is_same_v<std::decay_t<First>, no_error_t>)
        d_ = Disposition();
      else
        d_ = WEFT_NAMESPACE::to_exception_ptr(std::forward<First>(first));
      std::move(this->handler_)(std::forward<Args>(args)...);
    } else {
      std::move(this->handler_)(std::forward<First>(first), std::forward<Args>(args)...);
    }
  }

 private:
  Disposition& d_;
};

template <class Disposition>
struct redirect_disposition_adapter {
  template <class... Args>
  struct parameters {
    using type = signature_parameters<Args...>;
  };
  template <class First, class... Args>
    requires redirectable<First, Disposition>
  struct parameters<First, Args...> {
    using type = signature_parameters<Args...>;
  };

  template <class Token>
  static redirect_disposition_adapter of(Token&& token) {
    return {token.d_};
  }

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return redirect_disposition_handler<std::decay_t<Handler>, Disposition>(
        std::forward<Handler>(handler), d);
  }

  Disposition& d;
};

}  // namespace detail

template <class CompletionToken, class Disposition, class... Signatures>
class async_result<redirect_disposition_t<CompletionToken, Disposition>, Signatures...>
    : public detail::adapting_result<detail::redirect_disposition_adapter<Disposition>,
                                     Signatures...> {};

}  // namespace WEFT_NAMESPACE
