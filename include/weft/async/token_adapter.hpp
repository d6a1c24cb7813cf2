// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>

// How tokens that change the results, or the associations, of another token are made.
namespace WEFT_NAMESPACE::detail {

/// An initiation that has another one started by `Start`: `start(initiation, handler, args...)`. It
/// has the associations of the other one, among them the I/O executor.
template <class Initiation, class Start>
class wrapped_initiation {
 public:
  template <class I>
  wrapped_initiation(I&& initiation, Start start)
      : initiation_(std::forward<I>(initiation)), start_(std::move(start)) {}

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    std::move(start_)(std::move(initiation_), std::forward<Handler>(handler),
                      std::forward<Args>(args)...);
  }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    Start start(start_);
    std::move(start)(Initiation(initiation_), std::forward<Handler>(handler),
                     std::forward<Args>(args)...);
  }

  using association_source = Initiation;
  const Initiation& get_association_source() const noexcept { return initiation_; }

 private:
  [[no_unique_address]] Initiation initiation_;
  [[no_unique_address]] Start start_;
};

/// Puts `Adapter`'s wrapper around the handler.
template <class Adapter>
struct start_adapted {
  template <class Initiation, class Handler, class... Args>
  void operator()(Initiation&& initiation, Handler&& handler, Args&&... args) && {
    std::move(initiation)(std::move(adapter)(std::forward<Handler>(handler)),
                          std::forward<Args>(args)...);
  }

  [[no_unique_address]] Adapter adapter;
};
template <class Initiation, class Adapter>
using adapted_initiation = wrapped_initiation<Initiation, start_adapted<Adapter>>;

/// Starts the operation with `token`, whose handler is called with the signatures in the list, and
/// is wrapped by `adapter`.
template <class... Signatures, class Initiation, class Adapter, class Token, class... Args>
auto initiate_adapted(signature_list<Signatures...>, Initiation&& initiation, Adapter adapter,
                      Token&& token, Args&&... args)
    -> decltype(async_initiate<Token, Signatures...>(
        std::declval<adapted_initiation<std::decay_t<Initiation>, Adapter>>(), token,
        std::forward<Args>(args)...)) {
  return async_initiate<Token, Signatures...>(
      adapted_initiation<std::decay_t<Initiation>, Adapter>(
          std::forward<Initiation>(initiation), start_adapted<Adapter>{std::move(adapter)}),
      token, std::forward<Args>(args)...);
}

/// The async_result of a token that holds another one as `token_`: starts the operation with that.
/// `Adapter::of(token)` wraps its handler, and `Adapter::parameters` maps the signatures.
template <class Adapter, class... Signatures>
struct adapting_result {
  // The result is named, not deduced: a token that does not accept a signature is then no error but
  // no completion_token_for it.
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args)
      -> decltype(initiate_adapted(
          signature_list<map_signature_t<Adapter::template parameters, Signatures>...>(),
          std::forward<Initiation>(initiation), std::declval<Adapter>(),
          std::forward<Token>(token).token_, std::forward<Args>(args)...)) {
    return initiate_adapted(
        signature_list<map_signature_t<Adapter::template parameters, Signatures>...>(),
        std::forward<Initiation>(initiation), Adapter::of(std::forward<Token>(token)),
        std::forward<Token>(token).token_, std::forward<Args>(args)...);
  }
};

/// A handler that wraps another one, with the same associations.
template <class Handler>
class handler_wrapper {
 public:
  template <class H>
  explicit handler_wrapper(std::in_place_t, H&& handler) : handler_(std::forward<H>(handler)) {}

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

 protected:
  Handler handler_;
};

/// The default token of the operation that an initiation starts.
template <class Initiation>
using initiation_token_t =
    default_completion_token_t<associated_executor_t<std::decay_t<Initiation>>>;

/// A function object that adapts a token, and is a token itself: it adapts the default one.
template <class T>
concept partial_token = requires { typename T::is_partial_token; };

}  // namespace WEFT_NAMESPACE::detail

namespace WEFT_NAMESPACE {

template <detail::partial_token Partial, class... Signatures>
class async_result<Partial, Signatures...> {
  template <class Token, class Initiation>
  using adapted_t = std::invoke_result_t<Token, detail::initiation_token_t<Initiation>>;

 public:
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& partial, Args&&... args)
      -> decltype(async_initiate<adapted_t<Token, Initiation>, Signatures...>(
          std::forward<Initiation>(initiation), std::declval<adapted_t<Token, Initiation>&>(),
          std::forward<Args>(args)...)) {
    auto token = std::forward<Token>(partial)(detail::initiation_token_t<Initiation>());
    return async_initiate<decltype(token), Signatures...>(std::forward<Initiation>(initiation),
                                                          token, std::forward<Args>(args)...);
  }
};

}  // namespace WEFT_NAMESPACE
