// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/sync/channel_core.hpp>
#include <weft/sync/channel_error.hpp>

namespace WEFT_NAMESPACE {

/// The error transform of a channel that reports errors as errors.
struct no_transform {};

namespace detail {

struct channel_access {
  template <class Channel>
  static auto& core(const Channel& channel) noexcept {
    return *channel.core_;
  }
  /// Whether it has not been moved from.
  template <class Channel>
  static bool has_core(const Channel& channel) noexcept {
    return static_cast<bool>(channel.core_);
  }
  /// The channel that a oneshot_receiver is.
  template <class Receiver>
  static auto& channel(Receiver& receiver) noexcept {
    return static_cast<typename Receiver::channel_type&>(receiver);
  }
};

// How the result of a wait to receive is told.

struct receive_or_error {
  template <class T>
  using signature = void(error_code, T);
  template <class T>
  static operation_results<error_code, T> results(const error_code& ec, std::optional<T>& value) {
    if (value) [[likely]]
      return {error_code(), *std::move(value)};
    return {ec, T()};
  }
  template <class T>
  static std::optional<T> awaited(std::optional<T>&& value) noexcept {
    return std::move(value);
  }
};

struct receive_or_nothing {
  template <class T>
  using signature = void(std::optional<T>);
  template <class T>
  static operation_results<std::optional<T>> results(const error_code&, std::optional<T>& value) {
    return {std::move(value)};
  }
  template <class T>
  static std::optional<std::optional<T>> awaited(std::optional<T>&& value) noexcept {
    if (value)
      return std::optional<std::optional<T>>(std::in_place, std::move(value));
    return std::nullopt;
  }
};

template <class Transform>
struct receive_transformed {
  template <class T>
  using signature = void(T);
  template <class T>
  static operation_results<T> results(const error_code& ec, std::optional<T>& value) {
    if (value) [[likely]]
      return {*std::move(value)};
    return {Transform()(ec)};
  }
  template <class T>
  static std::optional<T> awaited(std::optional<T>&& value) noexcept {
    return std::move(value);
  }
};

template <class T, class Policy, class Form>
class channel_receive_operation : public channel_receive<T, Policy> {
 public:
  template <class Initiation>
  channel_receive_operation(operation::function f, scheduler& owner,
                            Initiation&& initiation) noexcept
      : channel_receive<T, Policy>(f, owner, initiation.core()) {}

  auto take_awaited() noexcept { return *Form::awaited(std::move(this->value)); }
  auto take_results() {
    return Form::template results<T>(this->value ? error_code() : this->error(), this->value);
  }
};

template <class T, class Policy>
class channel_send_operation : public channel_send<T, Policy> {
 public:
  template <class Initiation>
  channel_send_operation(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : channel_send<T, Policy>(f, owner, initiation.core(), initiation.take_value()) {}
};

}  // namespace detail

/// Passes values of type `T` from senders to receivers, any number of each, first in, first out.
///
///     channel<std::string> lines(context, 16);
///
///     awaitable<void> producer() {
///       while (auto line = next_line())
///         co_await lines.async_send(*std::move(line));  // waits while 16 are on their way
///       lines.close();
///     }
///     awaitable<void> consumer() {
///       while (auto line = co_await lines.async_next())
///         print(*line);
///     }
///
/// The capacity says how many values it holds that nobody has received yet. With 0, a sender waits
/// until a receiver takes the value from it; with `unbounded`, senders never wait. Those who wait
/// are served in the order in which they have begun to.
///
/// No value is lost: a wait to receive that is cancelled when a value has been given to it delivers
/// the value, and reports success. A wait to send either reports success, or the value was not
/// taken; it is destroyed then.
///
/// `Policy` is sharing::concurrent or sharing::local; the latter makes it cheaper, for one thread.
/// `Transform` makes of a wait that has failed the value that the program expects: it is called,
/// default-constructed, as `T(error_code)`, and async_receive completes with `void(T)`.
///
///     struct as_end { frame operator()(error_code) const { return frame::end(); } };
///     channel<frame, sharing::concurrent, as_end> frames(context, 4);
///
/// T is an object type whose move constructor does not throw.
///
/// Cost: a value that need not wait, in a bounded channel, takes one compare-exchange on either
/// side, or none with sharing::local, and while one thread is at both ends; otherwise a short lock.
/// A wait takes no memory beyond its operation: in a coroutine none at all. The channel itself
/// allocates room for its values at once if it is bounded.
///
/// Thread safety: with sharing::concurrent, any member from any thread while the channel lives, but
/// for moving it. With sharing::local, one thread, but for what makes, and destroys, it.
///
/// When it is destroyed, what waits in it completes with error::operation_aborted, and what it
/// holds is destroyed. When its context is destroyed, so is what waits in it, un-called; when
/// another one is, so is what waits in it of that one.
template <class T, class Policy = sharing::concurrent, class Executor = any_io_executor,
          class Transform = no_transform>
class basic_channel {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "what goes through a channel must be movable without exceptions, so that it is not "
                "lost on its way: send a std::unique_ptr of it");
  static constexpr bool transforms = !std::is_same_v<Transform, no_transform>;
  static_assert(!transforms || std::is_invocable_r_v<T, Transform, error_code>,
                "an error transform makes a value of an error: `T operator()(error_code)`");

  using core_type = detail::channel_core<T, Policy>;
  using receive_form = std::conditional_t<transforms, detail::receive_transformed<Transform>,
                                          detail::receive_or_error>;
  using receive_signature = typename receive_form::template signature<T>;

  class initiate_send;
  template <class Form>
  class initiate_receive;

 public:
  using executor_type = Executor;
  using value_type = T;
  using policy_type = Policy;
  using default_token = default_completion_token_t<executor_type>;

  /// The same channel type with another executor.
  template <class Executor1>
  struct rebind_executor {
    using other = basic_channel<T, Policy, Executor1, Transform>;
  };

  /// A channel that holds up to `capacity` values: fewer than 2^32, or `unbounded`. Handlers run by
  /// default in `ex`. Throws std::bad_alloc.
  explicit basic_channel(const executor_type& ex, std::size_t capacity = 0)
      : executor_(ex), core_(std::in_place, detail::executor_context(executor_), capacity) {}
  /// The same, with the executor of `context`.
  template <detail::execution_context_type ExecutionContext>
  explicit basic_channel(ExecutionContext& context, std::size_t capacity = 0)
      : basic_channel(executor_type(context.get_executor()), capacity) {}

  /// Takes over all of `other`, which must only be assigned to or destroyed from then on. Not while
  /// an operation that was deferred on it is yet to be started.
  basic_channel(basic_channel&& other) = default;
  basic_channel& operator=(basic_channel&& other) = default;
  ~basic_channel() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// How many values it holds at most.
  std::size_t capacity() const noexcept { return core_->capacity(); }
  /// How many it holds; while other threads use it, how many it held a moment ago.
  std::size_t size() const noexcept { return core_->size(); }
  /// Whether it has not been closed.
  bool is_open() const noexcept { return core_->is_open(); }

  /// Ends the sending, from any side. Sends that wait, and all later ones, fail with
  /// error::channel_closed; receives go on until nothing is left, and fail then. O(waits).
  void close() noexcept { core_->end(); }

  /// Cancels all waits: they complete with error::operation_aborted. The channel stays open.
  /// O(waits). Any thread.
  void cancel() noexcept { core_->cancel(); }

  /// Sends without waiting. False if it is full (with capacity 0: if nobody waits to receive) or
  /// closed; `value` is left alone then. Throws std::bad_alloc if it is unbounded. O(1).
  bool try_send(T&& value) {
    auto outcome = detail::channel_outcome::success;
    const bool done = core_->try_send(value, outcome);
    if (outcome == detail::channel_outcome::no_memory) [[unlikely]]
      throw std::bad_alloc();
    return done && outcome == detail::channel_outcome::success;
  }
  bool try_send(const T& value)
    requires std::copy_constructible<T>
  {
    return try_send(T(value));
  }

  /// Receives without waiting. Nothing if the channel is empty. O(1).
  std::optional<T> try_receive() {
    auto outcome = detail::channel_outcome::success;
    std::optional<T> value;
    core_->try_receive(value, outcome);
    return value;
  }

  /// Sends, and waits while the channel is full.
  ///
  /// Completion: `void(error_code)`: success; error::channel_closed; error::operation_aborted;
  /// error::no_memory if it is unbounded.
  /// Cancellation: `cancel`, and the slot (terminal, partial, total): the value has not been taken.
  /// Once it has been, the send reports success.
  /// Throws what moving the value, the handler, or the allocation throws; nothing is sent then.
  /// Any thread. O(1).
  template <completion_token_for<void(error_code)> Token = default_token>
  auto async_send(T value, Token&& token = default_token()) {
    return async_initiate<Token, void(error_code)>(initiate_send(this, std::move(value)), token);
  }

  /// Receives, and waits while the channel is empty.
  ///
  /// Completion: `void(error_code, T)`, or `void(T)` with a Transform. Success;
  /// error::channel_closed if it has been closed and is empty; error::operation_aborted; with an
  /// error the value is `T()`. (A T without a default constructor needs a Transform, or
  /// `async_next`.)
  /// Cancellation: `cancel`, and the slot (terminal, partial, total): no value has been taken. Once
  /// one has been, it is delivered.
  /// Throws what the allocation, or moving the handler, throws. Any thread. O(1).
  template <completion_token_for<receive_signature> Token = default_token>
    requires(transforms || std::is_default_constructible_v<T>)
  auto async_receive(Token&& token = default_token()) {
    return async_initiate<Token, receive_signature>(initiate_receive<receive_form>(this), token);
  }

  /// The same for loops: the next value, or nothing at the end, or when it was cancelled.
  ///
  /// Completion: `void(std::optional<T>)`.
  template <completion_token_for<void(std::optional<T>)> Token = default_token>
  auto async_next(Token&& token = default_token()) {
    return async_initiate<Token, void(std::optional<T>)>(
        initiate_receive<detail::receive_or_nothing>(this), token);
  }

 private:
  friend detail::channel_access;

  class initiation {
   public:
    using executor_type = Executor;

    explicit initiation(const basic_channel* self) noexcept : self_(self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }
    detail::scheduler& owner() const noexcept { return core().owner(); }
    core_type& core() const noexcept { return *self_->core_; }

   private:
    const basic_channel* self_;
  };

  class initiate_send : public initiation {
   public:
    using operation_type = detail::channel_send_operation<T, Policy>;

    initiate_send(const basic_channel* self, T&& value) noexcept
        : initiation(self), value_(std::move(value)) {}
    T&& take_value() noexcept { return std::move(value_); }
    [[gnu::always_inline]] bool try_perform() noexcept { return this->core().send_at_once(value_); }

    template <completion_handler_for<void(error_code)> Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }

   private:
    T value_;
  };

  template <class Form>
  class initiate_receive : public initiation {
   public:
    using operation_type = detail::channel_receive_operation<T, Policy, Form>;
    using initiation::initiation;

    [[gnu::always_inline]] auto try_perform() noexcept {
      std::optional<T> value;
      this->core().receive_at_once(value);
      return Form::awaited(std::move(value));
    }

    template <completion_handler_for<typename Form::template signature<T>> Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }
  };

  [[no_unique_address]] Executor executor_;
  detail::core_handle<core_type> core_;
};

/// A channel on any executor.
template <class T, class Policy = sharing::concurrent, class Transform = no_transform>
using channel = basic_channel<T, Policy, any_io_executor, Transform>;

}  // namespace WEFT_NAMESPACE
