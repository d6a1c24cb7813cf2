// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/completion_signature.hpp>

namespace WEFT_NAMESPACE {

/// Turns a completion token into a completion handler and into what the initiating function
/// returns. Specialise it for the decayed type of a token of your own:
///
///     template <class... Signatures>
///     class weft::async_result<my::token, Signatures...> {
///      public:
///       template <class Initiation, class Token, class... Args>
///       static auto initiate(Initiation&& initiation, Token&& token, Args&&... args);
///     };
///
/// `initiate` makes a handler of the token and has the operation started, now or later, by
/// `std::forward<Initiation>(initiation)(handler, std::forward<Args>(args)...)`. For later it keeps
/// decayed copies of the initiation and its arguments. Each token makes one handler and one result;
/// a composed operation passes its handler on, so that the token is never converted twice.
///
/// The primary template serves plain handlers, move-only ones too: the initiation is called at
/// once, and nothing is returned.
template <class CompletionToken, class... Signatures>
class async_result {
 public:
  using is_plain_handler = void;
  using completion_handler_type = CompletionToken;
  using return_type = void;

  explicit async_result(completion_handler_type&) {}
  async_result(const async_result&) = delete;
  async_result& operator=(const async_result&) = delete;
  void get() {}

  template <class Initiation, class Handler, class... Args>
    requires completion_handler_for<CompletionToken, Signatures...>
  static void initiate(Initiation&& initiation, Handler&& handler, Args&&... args) {
    std::forward<Initiation>(initiation)(std::forward<Handler>(handler),
                                         std::forward<Args>(args)...);
  }
};

template <class... Signatures>
class async_result<void, Signatures...> {};

/// The older way to write an initiating function: makes the handler of a token, and the result.
/// New code calls `async_initiate`.
template <class CompletionToken, completion_signature... Signatures>
struct async_completion {
  using completion_handler_type =
      typename async_result<std::decay_t<CompletionToken>, Signatures...>::completion_handler_type;
  using handler_reference =
      std::conditional_t<std::is_same_v<CompletionToken, completion_handler_type>,
                         completion_handler_type&, completion_handler_type>;

  explicit async_completion(std::remove_reference_t<CompletionToken>& token)
      : completion_handler(
            static_cast<std::conditional_t<std::is_same_v<CompletionToken, completion_handler_type>,
                                           completion_handler_type&, CompletionToken&&>>(token)),
        result(completion_handler) {}

  async_completion(const async_completion&) = delete;
  async_completion& operator=(const async_completion&) = delete;

  handler_reference completion_handler;
  async_result<std::decay_t<CompletionToken>, Signatures...> result;
};

namespace detail {

template <class Token, class... Signatures>
using async_result_for = async_result<std::decay_t<Token>, Signatures...>;

/// The token is not a type that async_result is specialised for.
template <class Token, class... Signatures>
concept plain_handler =
    requires { typename async_result_for<Token, Signatures...>::is_plain_handler; };

struct names_initiate {
  void initiate();
};
template <class Result>
struct initiate_name : Result, names_initiate {};

/// Tokens written for the Networking TS have no `initiate`, but a handler type, a constructor and
/// `get()`. (If both bases have the name, it is ambiguous, and the expression ill-formed.)
template <class Token, class... Signatures>
concept legacy_token = !plain_handler<Token, Signatures...> && requires {
  &initiate_name<async_result_for<Token, Signatures...>>::initiate;
};

/// What can be told without asking the token to convert itself.
template <class Token, class... Signatures>
concept token_or_handler_for =
    !plain_handler<Token, Signatures...> || completion_handler_for<Token, Signatures...>;

template <class... Signatures>
struct initiation_archetype {
  template <completion_handler_for<Signatures...> Handler>
  void operator()(Handler&&) const {}
};

}  // namespace detail

/// Starts, or has the token keep for later, an asynchronous operation. An initiating function
/// consists of a call of this:
///
///     template <completion_token_for<void(error_code, int)> Token>
///     auto async_answer(io_context& ctx, int question, Token&& token) {
///       return async_initiate<Token, void(error_code, int)>(
///           [&ctx](auto handler, int q) { start(ctx, q, std::move(handler)); }, token, question);
///     }
///
/// `initiation` is called with the handler and `args`; it may be stored, moved and copied before
/// that. If it has `executor_type` and `get_executor()`, that is the operation's I/O executor, as
/// tokens see it. Returns what the token makes of it; throws what the initiation throws.
template <class CompletionToken, completion_signature... Signatures, class Initiation,
          class... Args>
  requires detail::token_or_handler_for<CompletionToken, Signatures...> &&
           (!detail::legacy_token<CompletionToken, Signatures...>)
auto async_initiate(Initiation&& initiation, std::type_identity_t<CompletionToken>& token,
                    Args&&... args)
    -> decltype(async_result<std::decay_t<CompletionToken>, Signatures...>::initiate(
        std::forward<Initiation>(initiation), static_cast<CompletionToken&&>(token),
        std::forward<Args>(args)...)) {
  return async_result<std::decay_t<CompletionToken>, Signatures...>::initiate(
      std::forward<Initiation>(initiation), static_cast<CompletionToken&&>(token),
      std::forward<Args>(args)...);
}

template <class CompletionToken, completion_signature... Signatures, class Initiation,
          class... Args>
  requires detail::legacy_token<CompletionToken, Signatures...>
auto async_initiate(Initiation&& initiation, std::type_identity_t<CompletionToken>& token,
                    Args&&... args)
    -> decltype(std::declval<detail::async_result_for<CompletionToken, Signatures...>&>().get()) {
  async_completion<CompletionToken, Signatures...> completion(token);
  std::forward<Initiation>(initiation)(std::move(completion.completion_handler),
                                       std::forward<Args>(args)...);
  return completion.result.get();
}

/// A completion token for an operation with these signatures: a handler that can be called with
/// them, or a type for which async_result is specialised, and that accepts them.
template <class T, class... Signatures>
concept completion_token_for =
    (completion_signature<Signatures> && ...) && detail::token_or_handler_for<T, Signatures...> &&
    (detail::plain_handler<T, Signatures...> || requires(T&& t) {
      WEFT_NAMESPACE::async_initiate<T, Signatures...>(
          detail::initiation_archetype<Signatures...>(), t);
    });

}  // namespace WEFT_NAMESPACE
