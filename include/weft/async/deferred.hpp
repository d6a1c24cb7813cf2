// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/associator.hpp>
#include <weft/async/async_initiate.hpp>
#include <weft/async/executor_with_default.hpp>
#include <weft/async/is_async_operation.hpp>

namespace WEFT_NAMESPACE {

/// Whether `T` is a deferred operation: a function object that starts an operation when it is
/// called, as an rvalue, with a completion token. Specialise it as true for a type of your own that
/// may stand in a chain of deferred operations.
template <class T>
struct is_deferred : std::false_type {};

/// Tells constructors from conversions.
struct deferred_init_tag {};

/// Stands for several completion signatures where one is expected.
template <class... Signatures>
struct deferred_signatures {};

namespace detail {

struct deferred_access {
  template <class Operation>
  static auto&& initiation(Operation& operation) noexcept {
    return operation.initiation_;
  }
};

template <class T>
concept deferred_object = is_deferred<std::decay_t<T>>::value;

template <class Signature>
struct deferred_signature_list {
  using type = signature_list<Signature>;
};
template <class... Signatures>
struct deferred_signature_list<deferred_signatures<Signatures...>> {
  using type = signature_list<Signatures...>;
};

/// `async_initiate` with the signatures in a list.
template <class Token, class Initiation, class... Signatures, class... Args>
auto initiate_with(signature_list<Signatures...>, Initiation&& initiation, Token&& token,
                   Args&&... args)
    -> decltype(async_initiate<Token, Signatures...>(std::forward<Initiation>(initiation), token,
                                                     std::forward<Args>(args)...)) {
  return async_initiate<Token, Signatures...>(std::forward<Initiation>(initiation), token,
                                              std::forward<Args>(args)...);
}

}  // namespace detail

/// An asynchronous operation that has not been started: its initiation and the arguments. Calling
/// it with a completion token starts it; as an lvalue it is copied first, and may be started again.
template <class Signature, class Initiation, class... InitArgs>
class deferred_async_operation {
  using signatures = typename detail::deferred_signature_list<Signature>::type;

  template <class Token>
  using started_t =
      decltype(detail::initiate_with<Token>(signatures(), std::declval<Initiation>(),
                                            std::declval<Token>(), std::declval<InitArgs>()...));

 public:
  template <class I, class... A>
  constexpr explicit deferred_async_operation(deferred_init_tag, I&& initiation, A&&... init_args)
      : initiation_(std::forward<I>(initiation)), args_(std::forward<A>(init_args)...) {}

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) && -> started_t<CompletionToken> {
    return std::apply(
        [&](InitArgs&&... args) -> decltype(auto) {
          return detail::initiate_with<CompletionToken>(signatures(), std::move(initiation_),
                                                        std::forward<CompletionToken>(token),
                                                        std::move(args)...);
        },
        std::move(args_));
  }

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) const& -> started_t<CompletionToken> {
    return deferred_async_operation(*this)(std::forward<CompletionToken>(token));
  }

 private:
  friend detail::deferred_access;

  [[no_unique_address]] Initiation initiation_;
  [[no_unique_address]] std::tuple<InitArgs...> args_;
};

template <class Signature, class Initiation, class... InitArgs>
struct is_deferred<deferred_async_operation<Signature, Initiation, InitArgs...>> : std::true_type {
};

/// A deferred operation that completes with the stored values, inside its initiation.
template <class... Values>
class deferred_values {
  struct initiate {
    template <class Handler>
    void operator()(Handler handler, Values... values) const {
      std::move(handler)(std::move(values)...);
    }
  };

  template <class Token>
  using started_t = decltype(async_initiate<Token, void(Values...)>(
      initiate(), std::declval<Token&>(), std::declval<Values>()...));

 public:
  template <class... V>
  constexpr explicit deferred_values(deferred_init_tag, V&&... values)
      : values_(std::forward<V>(values)...) {}

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) && -> started_t<CompletionToken> {
    return std::apply(
        [&](Values&&... values) -> decltype(auto) {
          return async_initiate<CompletionToken, void(Values...)>(initiate(), token,
                                                                  std::move(values)...);
        },
        std::move(values_));
  }

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) const& -> started_t<CompletionToken> {
    return deferred_values(*this)(std::forward<CompletionToken>(token));
  }

 private:
  [[no_unique_address]] std::tuple<Values...> values_;
};

template <class... Values>
struct is_deferred<deferred_values<Values...>> : std::true_type {};

/// The empty action: never completes.
struct deferred_noop {
  template <class... Args>
  void operator()(Args&&...) && {}
  template <class... Args>
  void operator()(Args&&...) const& {}
};

template <>
struct is_deferred<deferred_noop> : std::true_type {};

/// A function, taking the results of the operation before it and returning the deferred operation
/// that follows, as an element of a chain. Made by `deferred(function)`.
template <class Function>
class deferred_function {
 public:
  template <class F>
  constexpr explicit deferred_function(deferred_init_tag, F&& function)
      : function_(std::forward<F>(function)) {}

  Function function_;
};

template <class Function>
struct is_deferred<deferred_function<Function>> : std::true_type {};

namespace detail {

// What a function called with the results of a head operation starts next.
template <class Tail, class HeadSignature>
struct tail_signatures;
template <class Tail, class R, class... Args>
struct tail_signatures<Tail, R(Args...)> {
  static_assert(std::is_invocable_v<Tail, Args...>,
                "a deferred function must accept the results of the operation before it");
  using type = operation_signatures_t<std::invoke_result_t<Tail, Args...>>;
};

template <class Tail, class HeadSignatures>
struct sequence_signatures;
template <class Tail, class First, class... More>
struct sequence_signatures<Tail, signature_list<First, More...>> {
  using type = typename tail_signatures<Tail, plain_signature_t<First>>::type;
  static_assert(
      (std::is_same_v<type, typename tail_signatures<Tail, plain_signature_t<More>>::type> && ...),
      "a deferred function must return an operation of the same signature for all results");
};

/// The handler of a chain's head: starts what the tail returns, for the chain's own handler.
template <class Handler, class Tail>
class deferred_link {
 public:
  template <class H>
  deferred_link(H&& handler, Tail&& tail)
      : handler_(std::forward<H>(handler)), tail_(std::move(tail)) {}

  template <class... Args>
  void operator()(Args&&... args) {
    std::move(tail_)(std::forward<Args>(args)...)(std::move(handler_));
  }

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

 private:
  Handler handler_;
  Tail tail_;
};

struct initiate_deferred_sequence {
  template <class Handler, class Head, class Tail>
  void operator()(Handler&& handler, Head head, Tail tail) const {
    std::move(head)(deferred_link<std::decay_t<Handler>, Tail>(std::forward<Handler>(handler),
                                                               std::move(tail)));
  }
};

}  // namespace detail

/// Two operations one after the other: `Tail` is called with the results of `Head`, and returns the
/// operation that follows. It completes when that one does, with its results.
template <class Head, class Tail>
class deferred_sequence {
  using signatures =
      typename detail::sequence_signatures<Tail, detail::operation_signatures_t<Head>>::type;

  template <class Token>
  using started_t = decltype(detail::initiate_with<Token>(
      signatures(), detail::initiate_deferred_sequence(), std::declval<Token>(),
      std::declval<Head>(), std::declval<Tail>()));

 public:
  template <class H, class T>
  constexpr explicit deferred_sequence(deferred_init_tag, H&& head, T&& tail)
      : head_(std::forward<H>(head)), tail_(std::forward<T>(tail)) {}

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) && -> started_t<CompletionToken> {
    return detail::initiate_with<CompletionToken>(
        signatures(), detail::initiate_deferred_sequence(), std::forward<CompletionToken>(token),
        std::move(head_), std::move(tail_));
  }

  template <class CompletionToken>
  auto operator()(CompletionToken&& token) const& -> started_t<CompletionToken> {
    return deferred_sequence(*this)(std::forward<CompletionToken>(token));
  }

 private:
  Head head_;
  Tail tail_;
};

template <class Head, class Tail>
struct is_deferred<deferred_sequence<Head, Tail>> : std::true_type {};

/// A branch: starts one of two deferred operations. Made by `deferred.when(b)`:
///     return deferred.when(!ec).then(timer.async_wait(deferred)).otherwise(deferred.values(ec));
/// Both must have the same completion signature. A branch left out never completes.
template <class OnTrue = deferred_noop, class OnFalse = deferred_noop>
class deferred_conditional {
 public:
  constexpr explicit deferred_conditional(bool b) : condition_(b) {}

  template <class... Args>
  auto operator()(
      Args&&... args) && -> decltype(std::declval<OnTrue>()(std::forward<Args>(args)...)) {
    if (condition_)
      return std::move(on_true_)(std::forward<Args>(args)...);
    return std::move(on_false_)(std::forward<Args>(args)...);
  }

  template <class... Args>
  auto operator()(Args&&... args)
      const& -> decltype(std::declval<const OnTrue&>()(std::forward<Args>(args)...)) {
    if (condition_)
      return on_true_(std::forward<Args>(args)...);
    return on_false_(std::forward<Args>(args)...);
  }

  template <class T>
    requires detail::deferred_object<T> && std::is_same_v<OnTrue, deferred_noop>
  deferred_conditional<T, OnFalse> then(T on_true) && {
    return deferred_conditional<T, OnFalse>(condition_, std::move(on_true), std::move(on_false_));
  }

  template <class T>
    requires detail::deferred_object<T> && std::is_same_v<OnFalse, deferred_noop>
  deferred_conditional<OnTrue, T> otherwise(T on_false) && {
    return deferred_conditional<OnTrue, T>(condition_, std::move(on_true_), std::move(on_false));
  }

 private:
  template <class, class>
  friend class deferred_conditional;

  constexpr deferred_conditional(bool b, OnTrue on_true, OnFalse on_false)
      : on_true_(std::move(on_true)), on_false_(std::move(on_false)), condition_(b) {}

  [[no_unique_address]] OnTrue on_true_;
  [[no_unique_address]] OnFalse on_false_;
  bool condition_;
};

template <class OnTrue, class OnFalse>
struct is_deferred<deferred_conditional<OnTrue, OnFalse>> : std::true_type {};

/// The token that makes an initiating function return the operation, unstarted, as a function
/// object that takes a completion token. It is also the default token.
///
///     auto op = timer.async_wait(deferred);
///     std::move(op)([](error_code ec) { ... });
///
/// `deferred(f)` chains: `f` gets the results, and returns the deferred operation that follows.
///
///     timer.async_wait(deferred([&](error_code) { return timer.async_wait(deferred); }))(token);
class deferred_t : public detail::default_token<deferred_t> {
 public:
  constexpr deferred_t() = default;

  /// Wraps a function, for a chain.
  template <class Function>
    requires(!detail::deferred_object<Function>)
  constexpr deferred_function<std::decay_t<Function>> operator()(Function&& function) const {
    return deferred_function<std::decay_t<Function>>(deferred_init_tag(),
                                                     std::forward<Function>(function));
  }

  /// Passes on what is deferred already.
  template <detail::deferred_object T>
  constexpr std::decay_t<T> operator()(T&& t) const {
    return std::forward<T>(t);
  }

  /// A deferred operation that completes with these values.
  template <class... Args>
  static constexpr deferred_values<std::decay_t<Args>...> values(Args&&... args) {
    return deferred_values<std::decay_t<Args>...>(deferred_init_tag(), std::forward<Args>(args)...);
  }

  /// A branch on `b`; give it `.then(...)` and `.otherwise(...)`.
  static constexpr deferred_conditional<> when(bool b) { return deferred_conditional<>(b); }
};

inline constexpr deferred_t deferred;

/// Starts `head` with the token `tail`, or chains the function `tail` to it: `head(tail)`.
template <class Head, class Tail>
  requires(is_deferred<Head>::value)
auto operator|(Head head, Tail&& tail) -> decltype(std::move(head)(std::forward<Tail>(tail))) {
  return std::move(head)(std::forward<Tail>(tail));
}

template <class Signature>
class async_result<deferred_t, Signature> {
 public:
  template <class Initiation, class Token, class... InitArgs>
  static deferred_async_operation<Signature, std::decay_t<Initiation>, std::decay_t<InitArgs>...>
  initiate(Initiation&& initiation, Token&&, InitArgs&&... args) {
    return deferred_async_operation<Signature, std::decay_t<Initiation>, std::decay_t<InitArgs>...>(
        deferred_init_tag(), std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
  }
};

template <class... Signatures>
class async_result<deferred_t, Signatures...> {
 public:
  template <class Initiation, class Token, class... InitArgs>
  static deferred_async_operation<deferred_signatures<Signatures...>, std::decay_t<Initiation>,
                                  std::decay_t<InitArgs>...>
  initiate(Initiation&& initiation, Token&&, InitArgs&&... args) {
    return deferred_async_operation<deferred_signatures<Signatures...>, std::decay_t<Initiation>,
                                    std::decay_t<InitArgs>...>(
        deferred_init_tag(), std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
  }
};

template <class Function, class... Signatures>
class async_result<deferred_function<Function>, Signatures...> {
 public:
  template <class Initiation, class Token, class... InitArgs>
    requires(detail::is_callable_with<Function, detail::plain_signature_t<Signatures>> && ...)
  static auto initiate(Initiation&& initiation, Token&& token, InitArgs&&... args) {
    auto head = async_result<deferred_t, Signatures...>::initiate(
        std::forward<Initiation>(initiation), deferred, std::forward<InitArgs>(args)...);
    return deferred_sequence<decltype(head), Function>(deferred_init_tag(), std::move(head),
                                                       std::forward<Token>(token).function_);
  }
};

}  // namespace WEFT_NAMESPACE
