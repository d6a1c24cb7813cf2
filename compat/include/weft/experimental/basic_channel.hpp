// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/async/async_result.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/experimental/channel_error.hpp>
#include <weft/experimental/channel_traits.hpp>
#include <weft/sync/channel_core.hpp>

namespace WEFT_NAMESPACE::experimental {
namespace detail {

using namespace WEFT_NAMESPACE::detail;

template <class Signature>
struct channel_message;
template <class R, class... Args>
struct channel_message<R(Args...)> {
  using type = std::tuple<std::decay_t<Args>...>;
  /// Whether these are the arguments of such a message.
  template <class... A>
  static constexpr bool takes =
      sizeof...(A) == sizeof...(Args) && std::is_constructible_v<type, A...>;
};
template <class R>
struct channel_message<R()> {
  using type = std::tuple<>;
  template <class... A>
  static constexpr bool takes = sizeof...(A) == 0;
};

/// A message is of one of several signatures.
template <class... Signatures>
using channel_payload = std::variant<typename channel_message<Signatures>::type...>;

inline constexpr std::size_t no_message = static_cast<std::size_t>(-1);

/// Which of the signatures such arguments are a message of; the first.
template <class... Signatures, class... A>
constexpr std::size_t message_index(std::type_identity<std::tuple<A...>>) {
  const bool takes[] = {channel_message<Signatures>::template takes<A...>...};
  for (std::size_t i = 0; i != sizeof...(Signatures); ++i)
    if (takes[i])
      return i;
  return no_message;
}

/// `Signatures`, and `Failure` if it is none of them, applied to `F`.
template <class Failure, class... Signatures>
struct channel_signatures {
  template <class Token, class Initiation>
  static auto initiate(Initiation&& initiation, Token& token) {
    if constexpr ((std::is_same_v<Failure, Signatures> || ...))
      return async_initiate<Token, Signatures...>(std::forward<Initiation>(initiation), token);
    else
      return async_initiate<Token, Signatures..., Failure>(std::forward<Initiation>(initiation),
                                                           token);
  }
};

/// Undoes the making of `value` from `std::forward<Arg>(arg)`, if that was a move.
template <class Arg, class Value>
void give_back(Value& value, Arg& arg) {
  if constexpr (std::is_same_v<Arg, Value> && std::is_move_assignable_v<Value>)
    arg = std::move(value);
}

/// What a receive gives its handler: a message, or that none has come.
template <class Payload, class Traits>
struct channel_receive_results {
  std::optional<Payload> message;
  bool is_closed;

  template <class Handler>
  void give_to(Handler&& handler) && {
    if (message)
      std::visit(
          [&](auto& values) { std::apply(std::forward<Handler>(handler), std::move(values)); },
          *message);
    else if (is_closed)
      Traits::invoke_receive_closed(std::forward<Handler>(handler));
    else
      Traits::invoke_receive_cancelled(std::forward<Handler>(handler));
  }
};

template <class Payload, class Traits>
class channel_receive_message : public channel_receive<Payload, sharing::concurrent> {
 public:
  template <class Initiation>
  channel_receive_message(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : channel_receive<Payload, sharing::concurrent>(f, owner, initiation.core()) {}

  channel_receive_results<Payload, Traits> take_results() noexcept {
    return {std::move(this->value), this->is_granted()};
  }
};

template <class Payload>
class channel_send_message : public channel_send<Payload, sharing::concurrent> {
 public:
  template <class Initiation>
  channel_send_message(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : channel_send<Payload, sharing::concurrent>(f, owner, initiation.core(),
                                                   initiation.take_payload()) {}

  operation_results<error_code> take_results() const noexcept {
    if (!this->is_granted())
      return {error::channel_cancelled};
    return {this->error()};
  }
};

}  // namespace detail

/// A channel with the interface of Asio's: messages are the arguments of a call with one of the
/// signatures, usually with an error code in front. It is safe to use from several threads.
///
/// Messages must be movable without exceptions. Sends that wait when it is closed fail with
/// channel_closed. What weft::channel says of order, cancellation and ends holds here.
template <class Executor, class Traits, class... Signatures>
class basic_channel {
  using payload = detail::channel_payload<Signatures...>;
  using core_type = detail::channel_core<payload, sharing::concurrent>;
  static_assert(std::is_nothrow_move_constructible_v<payload>,
                "what goes through a channel must be movable without exceptions");

  template <class... A>
  static constexpr std::size_t index_of =
      detail::message_index<Signatures...>(std::type_identity<std::tuple<A...>>());

 public:
  using executor_type = Executor;
  using traits_type = typename Traits::template rebind<Signatures...>::other;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_channel<Executor1, Traits, Signatures...>;
  };

  /// A channel that holds up to `max_buffer_size` messages. Throws std::bad_alloc.
  explicit basic_channel(const executor_type& ex, std::size_t max_buffer_size = 0)
      : executor_(ex), core_(std::in_place, detail::executor_context(executor_), max_buffer_size) {}
  template <detail::execution_context_type ExecutionContext>
  explicit basic_channel(ExecutionContext& context, std::size_t max_buffer_size = 0)
      : basic_channel(executor_type(context.get_executor()), max_buffer_size) {}
  /// `other` must only be assigned to or destroyed from then on.
  basic_channel(basic_channel&& other) = default;
  basic_channel& operator=(basic_channel&& other) = default;
  ~basic_channel() = default;

  const executor_type& get_executor() const noexcept { return executor_; }
  std::size_t capacity() const noexcept { return core_->capacity(); }
  bool is_open() const noexcept { return core_->is_open(); }
  /// Whether a message can be received without waiting.
  bool ready() const noexcept { return core_->is_ready(); }

  /// Drops what it holds, cancels what waits, and opens it again.
  void reset() noexcept { core_->reset(); }
  void close() noexcept { core_->end(); }
  void cancel() noexcept { core_->cancel(); }

  /// Sends without waiting. False if that is not possible; values that were to be moved are the
  /// caller's still then, if their types have a move assignment.
  template <class... Args>
    requires(index_of<Args...> != detail::no_message)
  bool try_send(Args&&... args) {
    constexpr std::size_t index = index_of<Args...>;
    payload message(std::in_place_index<index>, std::forward<Args>(args)...);
    auto outcome = detail::channel_outcome::success;
    if (core_->try_send(message, outcome) && outcome == detail::channel_outcome::success)
      return true;
    std::apply([&](auto&... values) { (detail::give_back<Args>(values, args), ...); },
               std::get<index>(message));
    return false;
  }
  /// Sends as many copies as can be sent without waiting, `count` at most; returns their number.
  template <class... Args>
    requires(index_of<const Args&...> != detail::no_message)
  std::size_t try_send_n(std::size_t count, const Args&... args) {
    std::size_t sent = 0;
    while (sent != count && try_send(args...))
      ++sent;
    return sent;
  }
  /// The same: a waiting receiver's handler is queued here too.
  template <class... Args>
  bool try_send_via_dispatch(Args&&... args) {
    return try_send(std::forward<Args>(args)...);
  }
  template <class... Args>
  std::size_t try_send_n_via_dispatch(std::size_t count, const Args&... args) {
    return try_send_n(count, args...);
  }

  /// Calls the handler with a message, if there is one; it is called inside this function.
  template <class Handler>
  bool try_receive(Handler&& handler) {
    auto outcome = detail::channel_outcome::success;
    std::optional<payload> message;
    core_->try_receive(message, outcome);
    if (!message)
      return false;
    detail::channel_receive_results<payload, traits_type>{std::move(message), false}.give_to(
        std::forward<Handler>(handler));
    return true;
  }

  /// Sends a message: its values, and a completion token, which may be left out.
  /// Completion: `void(error_code)`: success, channel_closed, channel_cancelled.
  template <class... Args>
  auto async_send(Args&&... args) {
    if constexpr (index_of<Args...> != detail::no_message) {
      default_completion_token_t<Executor> token;
      return send<default_completion_token_t<Executor>>(token, std::forward<Args>(args)...);
    } else {
      return split(std::make_index_sequence<sizeof...(Args) - 1>(),
                   std::tuple<Args&&...>(std::forward<Args>(args)...));
    }
  }

  /// Receives a message.
  /// Completion: with the message's signature; without one, as the traits say.
  template <class Token = default_completion_token_t<Executor>>
  auto async_receive(Token&& token = default_completion_token_t<Executor>()) {
    using signatures =
        detail::channel_signatures<typename traits_type::receive_closed_signature, Signatures...>;
    return signatures::template initiate<Token>(initiate_receive(*this), token);
  }

 private:
  class initiation {
   public:
    using executor_type = Executor;

    explicit initiation(const basic_channel& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }
    detail::scheduler& owner() const noexcept { return core().owner(); }
    core_type& core() const noexcept { return *self_->core_; }

   private:
    const basic_channel* self_;
  };

  class initiate_send : public initiation {
   public:
    using operation_type = detail::channel_send_message<payload>;

    initiate_send(const basic_channel& self, payload&& message) noexcept
        : initiation(self), payload_(std::move(message)) {}
    payload&& take_payload() noexcept { return std::move(payload_); }

    template <class Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }

   private:
    payload payload_;
  };

  class initiate_receive : public initiation {
   public:
    using operation_type = detail::channel_receive_message<payload, traits_type>;
    using initiation::initiation;

    template <class Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }
  };

  template <class Token, class... Args>
  auto send(Token& token, Args&&... args) {
    constexpr std::size_t index = index_of<Args...>;
    static_assert(index != detail::no_message,
                  "async_send takes the arguments of one of the channel's signatures, and a token");
    return async_initiate<Token, void(error_code)>(
        initiate_send(*this, payload(std::in_place_index<index>, std::forward<Args>(args)...)),
        token);
  }
  template <std::size_t... I, class... Args>
  auto split(std::index_sequence<I...>, std::tuple<Args...> all) {
    using token = std::tuple_element_t<sizeof...(I), std::tuple<Args...>>;
    std::remove_reference_t<token>& last = std::get<sizeof...(I)>(all);
    return send<token>(last, std::get<I>(std::move(all))...);
  }

  Executor executor_;
  detail::core_handle<core_type> core_;
};

}  // namespace WEFT_NAMESPACE::experimental
