// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/cancellation_state.hpp>
#include <weft/async/redispatched.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/work_tracker.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// The I/O executor of what is passed to async_compose: an executor, a context or an I/O object.
template <class T>
auto composed_io_executor(T& object) {
  if constexpr (any_style_executor<std::remove_cv_t<T>>)
    return object;
  else
    return object.get_executor();
}

/// The I/O executors of a composed operation; the first one is the operation's own.
template <class... Executors>
struct composed_executors {
  using first_type = inline_executor;
  first_type first() const noexcept { return {}; }
  std::tuple<> trackers() const noexcept { return {}; }
};
template <class First, class... More>
struct composed_executors<First, More...> {
  using first_type = First;
  const first_type& first() const noexcept { return std::get<0>(all); }
  auto trackers() const {
    return std::apply(
        [](const auto&... ex) {
          return std::tuple<work_tracker<std::decay_t<decltype(ex)>>...>(ex...);
        },
        all);
  }
  std::tuple<First, More...> all;
};

/// Results that are delivered later. References to what is not const stay references.
template <class Arg>
using stored_result_t = std::conditional_t<std::is_lvalue_reference_v<Arg> &&
                                               !std::is_const_v<std::remove_reference_t<Arg>>,
                                           Arg, std::decay_t<Arg>>;

template <class Handler, class... Args>
class bound_completion {
 public:
  template <class... A>
  explicit bound_completion(Handler&& handler, A&&... args)
      : handler_(std::move(handler)), args_(std::forward<A>(args)...) {}

  void operator()() {
    std::apply([this](auto&&... args) { std::move(handler_)(static_cast<Args&&>(args)...); },
               std::move(args_));
  }

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

 private:
  Handler handler_;
  std::tuple<stored_result_t<Args>...> args_;
};

/// Gives a composed operation its `complete(args...)`, one overload for each signature.
template <class Operation, class... Signatures>
class composed_completion;

/// Without signatures, one that takes any results.
template <class Operation>
class composed_completion<Operation> {
 public:
  template <class... Args>
  void complete(Args... args) {
    static_cast<Operation*>(this)->template finish<Args...>(std::move(args)...);
  }
};

template <class Operation, class R, class... Args>
class composed_completion<Operation, R(Args...)> {
 public:
  /// Ends the operation: releases its work, and calls the handler with the results. When the
  /// implementation calls it in its very first invocation, inside the initiating function, the
  /// handler goes through its associated immediate executor: by default it is posted to the first
  /// I/O executor. Nothing of `self` may be used afterwards.
  void complete(Args... args) {
    static_cast<Operation*>(this)->template finish<Args...>(std::forward<Args>(args)...);
  }
};

template <class Operation, class First, class Second, class... More>
class composed_completion<Operation, First, Second, More...>
    : public composed_completion<Operation, First>,
      public composed_completion<Operation, Second, More...> {
 public:
  using composed_completion<Operation, First>::complete;
  using composed_completion<Operation, Second, More...>::complete;
};

/// `self`: the intermediate handler of a composed operation, which holds the implementation and the
/// final handler, and moves from one child operation to the next.
template <class Implementation, class Handler, class Executors, class... Signatures>
class composed_operation
    : public composed_completion<
          composed_operation<Implementation, Handler, Executors, Signatures...>,
          plain_signature_t<Signatures>...> {
  using io_executor_type = typename Executors::first_type;
  using trackers = decltype(std::declval<const Executors&>().trackers());

  struct no_work {
    explicit no_work(const io_executor_type&) noexcept {}
    void reset() noexcept {}
  };

 public:
  using executor_type = associated_executor_t<Handler, io_executor_type>;
  using allocator_type = associated_allocator_t<Handler>;
  using cancellation_slot_type = cancellation_slot;

  template <class I, class H>
  composed_operation(I&& implementation, H&& handler, const Executors& executors)
      : io_executor_(executors.first()),
        implementation_(std::forward<I>(implementation)),
        handler_(std::forward<H>(handler)),
        io_work_(executors.trackers()),
        handler_work_(get_associated_executor(handler_, io_executor_)),
        state_(get_associated_cancellation_slot(handler_)) {}

  composed_operation(composed_operation&&) = default;

  io_executor_type get_io_executor() const noexcept { return io_executor_; }
  executor_type get_executor() const noexcept {
    return get_associated_executor(handler_, io_executor_);
  }
  allocator_type get_allocator() const noexcept { return get_associated_allocator(handler_); }
  cancellation_slot_type get_cancellation_slot() const noexcept { return state_.slot(); }

  /// The state that chains the handler's cancellation slot to the child operations.
  cancellation_state get_cancellation_state() const noexcept { return state_; }

  /// The types of cancellation requested so far, as the filter let them pass.
  cancellation_type cancelled() const noexcept { return state_.cancelled(); }

  /// Forgets what was requested, and sets which types are let pass from now on; without a filter,
  /// terminal ones.
  void reset_cancellation_state() {
    state_ = cancellation_state(get_associated_cancellation_slot(handler_));
  }
  template <class Filter>
  void reset_cancellation_state(Filter&& filter) {
    state_ = cancellation_state(get_associated_cancellation_slot(handler_),
                                std::forward<Filter>(filter));
  }
  template <class InFilter, class OutFilter>
  void reset_cancellation_state(InFilter&& in_filter, OutFilter&& out_filter) {
    state_ =
        cancellation_state(get_associated_cancellation_slot(handler_),
                           std::forward<InFilter>(in_filter), std::forward<OutFilter>(out_filter));
  }

  /// Goes on with the implementation: a child operation's results.
  template <class... Args>
  void operator()(Args&&... args) {
    initiating_ = !started_;
    started_ = true;
    state_.slot().clear();
    implementation_(*this, std::forward<Args>(args)...);
  }

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

 private:
  template <class, class...>
  friend class composed_completion;

  template <class... Args>
  void finish(Args&&... args) {
    auto slot = get_associated_cancellation_slot(handler_);
    if (slot.is_connected())
      slot.clear();
    if (initiating_) {
      finish_immediately<Args...>(std::forward<Args>(args)...);
    } else {
      Handler handler(std::move(handler_));
      release_work();
      std::move(handler)(std::forward<Args>(args)...);
    }
  }

  template <class... Args>
  void finish_immediately(Args&&... args) {
    using completion = bound_completion<Handler, Args...>;
    auto immediate = get_associated_immediate_executor(handler_, io_executor_);
    auto allocator = get_associated_allocator(handler_);
    if constexpr (executor_unassociated<Handler, io_executor_type>) {
      detail::executor_dispatch(
          immediate, completion(std::move(handler_), std::forward<Args>(args)...), allocator);
    } else {
      const executor_type own = get_executor();
      detail::executor_dispatch(
          immediate,
          redispatched<completion, executor_type>(
              completion(std::move(handler_), std::forward<Args>(args)...), own),
          allocator);
    }
    release_work();
  }

  void release_work() noexcept {
    std::apply([](auto&... tracker) { (tracker.reset(), ...); }, io_work_);
    handler_work_.reset();
  }

  [[no_unique_address]] io_executor_type io_executor_;
  Implementation implementation_;
  Handler handler_;
  [[no_unique_address]] trackers io_work_;
  [[no_unique_address]] std::conditional_t<executor_unassociated<Handler, io_executor_type>,
                                           no_work, work_tracker<executor_type>> handler_work_;
  cancellation_state state_;
  bool started_ = false;
  bool initiating_ = false;
};

}  // namespace detail

/// A child operation that completes at once does so by a post: an implementation that starts the
/// next one from there would otherwise go deeper with each.
template <class Implementation, class Handler, class Executors, class... Signatures, class Executor>
struct associated_immediate_executor<
    detail::composed_operation<Implementation, Handler, Executors, Signatures...>, Executor>
    : detail::default_immediate_executor<Executor> {};

namespace detail {

template <class Implementation, class Executors, class... Signatures>
class initiate_composed {
 public:
  using executor_type = typename Executors::first_type;

  template <class I>
  initiate_composed(I&& implementation, Executors executors)
      : implementation_(std::forward<I>(implementation)), executors_(std::move(executors)) {}

  executor_type get_executor() const noexcept { return executors_.first(); }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    start(std::move(implementation_), std::forward<Handler>(handler), std::forward<Args>(args)...);
  }
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    start(implementation_, std::forward<Handler>(handler), std::forward<Args>(args)...);
  }

 private:
  template <class I, class Handler, class... Args>
  void start(I&& implementation, Handler&& handler, Args&&... args) const {
    composed_operation<Implementation, std::decay_t<Handler>, Executors, Signatures...> self(
        std::forward<I>(implementation), std::forward<Handler>(handler), executors_);
    self(std::forward<Args>(args)...);
  }

  Implementation implementation_;
  [[no_unique_address]] Executors executors_;
};

}  // namespace detail

/// Makes the initiation of a composed operation out of a function object that is called again and
/// again: first as `implementation(self, args...)` with the extra arguments of async_initiate, then
/// with the results of each child operation that was given `std::move(self)` as its handler, until
/// it calls `self.complete(results...)`.
///
/// `self` has the final handler's associated executor, allocator and immediate executor, and
///   `get_io_executor()`, `get_executor()`, `get_allocator()`, `get_cancellation_slot()`,
///   `get_cancellation_state()`, `reset_cancellation_state(...)`, `cancelled()`, `complete(...)`.
/// `complete` takes the results of one of `Signatures`; if these are left out, copies of any values
///   that the handler can be called with.
/// Work is kept outstanding, until it completes, on the executors of `io_objects_or_executors` and
/// on the handler's. Without any of them a completion inside the initiating function cannot be
/// posted anywhere, and calls the handler inline if that has no executor of its own.
///
/// Cancellation: terminal, unless `self.reset_cancellation_state` says otherwise; the request goes
/// on to the child operation in progress.
template <completion_signature... Signatures, class Implementation, class... IoObjectsOrExecutors>
auto composed(Implementation&& implementation, IoObjectsOrExecutors&&... io_objects_or_executors) {
  using executors = detail::composed_executors<decltype(detail::composed_io_executor(
      io_objects_or_executors))...>;
  if constexpr (sizeof...(IoObjectsOrExecutors) == 0)
    return detail::initiate_composed<std::decay_t<Implementation>, executors, Signatures...>(
        std::forward<Implementation>(implementation), executors{});
  else
    return detail::initiate_composed<std::decay_t<Implementation>, executors, Signatures...>(
        std::forward<Implementation>(implementation),
        executors{{detail::composed_io_executor(io_objects_or_executors)...}});
}

/// Starts a composed operation (see `composed`):
///
///     template <class Token>
///     auto async_echo(ip::tcp::socket& socket, mutable_buffer buffer, Token&& token) {
///       return async_compose<Token, void(error_code, std::size_t)>(
///           [&socket, buffer, reading = true](auto& self, error_code ec = {},
///                                             std::size_t n = 0) mutable { ... },
///           token, socket);
///     }
template <class CompletionToken, completion_signature Signature, class Implementation,
          class... IoObjectsOrExecutors>
auto async_compose(Implementation&& implementation, std::type_identity_t<CompletionToken>& token,
                   IoObjectsOrExecutors&&... io_objects_or_executors) {
  return async_initiate<CompletionToken, Signature>(
      composed<Signature>(std::forward<Implementation>(implementation),
                          std::forward<IoObjectsOrExecutors>(io_objects_or_executors)...),
      token);
}

}  // namespace WEFT_NAMESPACE
