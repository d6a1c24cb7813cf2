// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associator.hpp>
#include <weft/async/async_initiate.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/token_adapter.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/group_core.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// The part of a child's handler that tells the group of its end.
class child_end {
 public:
  child_end() = default;
  explicit child_end(group_child& child) noexcept : child_(&child) {}
  child_end(child_end&& other) noexcept { take(other); }
  child_end& operator=(child_end&&) = delete;
  ~child_end() {
    if (child_)
      child_->core().end(*child_, std::move(error_));
  }

  /// Takes over what `other` is to tell; this has nothing.
  void take(child_end& other) noexcept {
    child_ = std::exchange(other.child_, nullptr);
    error_ = std::move(other.error_);
  }

  group_child* child() const noexcept { return child_; }
  void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }

 private:
  group_child* child_ = nullptr;
  std::exception_ptr error_;
};

/// Passes a request on to a child.
class child_canceller {
 public:
  explicit child_canceller(group_child* child) noexcept : child_(child) {}
  void operator()(cancellation_type type) const { child_->signal().emit(type); }

 private:
  group_child* child_;
};

/// The handler of a child. Its slot is the child's; what the slot of `Handler` hears is passed on.
template <class Handler>
class child_handler {
 public:
  template <class H>
  child_handler(H&& handler, group_child& child) : end_(child), handler_(std::forward<H>(handler)) {
    auto parent = get_associated_cancellation_slot(handler_);
    if (parent.is_connected()) {
      parent.template emplace<child_canceller>(&child);
      is_connected_ = true;
    }
  }
  child_handler(child_handler&& other) noexcept(std::is_nothrow_move_constructible_v<Handler>)
      : handler_(std::move(other.handler_)),  // if that throws, the other is the child's still
        is_connected_(std::exchange(other.is_connected_, false)) {
    end_.take(other.end_);
  }
  child_handler& operator=(child_handler&&) = delete;
  ~child_handler() { disconnect(); }

  /// The child has ended when its handler has returned, and is gone.
  template <class... Args>
  void operator()(Args&&... args) {
    disconnect();
    child_end end(std::move(end_));
    end.fail(error_in(args...));
    Handler handler(std::move(handler_));
    std::move(handler)(std::forward<Args>(args)...);
  }

  using association_source = Handler;
  const Handler& get_association_source() const noexcept { return handler_; }

  using cancellation_slot_type = cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return end_.child() ? end_.child()->signal().slot() : cancellation_slot();
  }

 private:
  void disconnect() noexcept {
    if (std::exchange(is_connected_, false))
      get_associated_cancellation_slot(handler_).clear();
  }

  child_end end_;  // it outlives the handler
  Handler handler_;
  bool is_connected_ = false;
};

/// Starts an operation as a child.
struct start_child {
  template <class Initiation, class Handler, class... Args>
  void operator()(Initiation&& initiation, Handler&& handler, Args&&... args) const {
    const struct starting {
      group_child& child;
      ~starting() { child.core().started(child); }
    } now{core->begin(where, has_place)};
    std::move(initiation)(
        child_handler<std::decay_t<Handler>>(std::forward<Handler>(handler), now.child),
        std::forward<Args>(args)...);
  }

  group_core* core;
  std::source_location where;
  bool has_place;
};

}  // namespace detail

/// A completion token that makes its operation a child of a task_group. Made by
/// task_group::token; see there.
template <class CompletionToken>
class group_token {
 public:
  template <class T>
  group_token(T&& completion_token, detail::group_core& core, const std::source_location& where,
              bool has_place = false)
      : token_(std::forward<T>(completion_token)), start_{&core, where, has_place} {}

  CompletionToken token_;
  detail::start_child start_;
};

template <class CompletionToken, class... Signatures>
class async_result<group_token<CompletionToken>, Signatures...> {
  template <class Initiation>
  using child = detail::wrapped_initiation<std::decay_t<Initiation>, detail::start_child>;

 public:
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args)
      -> decltype(detail::initiate_with(detail::signature_list<Signatures...>(),
                                        std::declval<child<Initiation>>(),
                                        std::forward<Token>(token).token_,
                                        std::forward<Args>(args)...)) {
    return detail::initiate_with(
        detail::signature_list<Signatures...>(),
        child<Initiation>(std::forward<Initiation>(initiation), token.start_),
        std::forward<Token>(token).token_, std::forward<Args>(args)...);
  }
};

namespace detail {

/// Waits for room in a group, and then starts a child.
template <class Start>
class initiate_group_spawn : public group_initiation {
 public:
  class operation_type : public group_spawn_operation {
   public:
    operation_type(function f, scheduler& owner, initiate_group_spawn&& initiation)
        : group_spawn_operation(f, owner, initiation.core()), initiation_(std::move(initiation)) {}

    operation_results<std::exception_ptr> take_results() noexcept {
      if (!take_place())
        return {exception_of(error::operation_aborted)};
      try {
        co_spawn(initiation_.get_executor(), std::move(initiation_.start_),
                 group_token<detached_t>(detached, core(), initiation_.where_, true));
      } catch (...) {
        return {std::current_exception()};
      }
      return {nullptr};
    }

   private:
    initiate_group_spawn initiation_;
  };

  template <class S>
  initiate_group_spawn(group_core& core, const any_io_executor& executor,
                       const std::source_location& where, S&& start)
      : group_initiation(core, executor), where_(where), start_(std::forward<S>(start)) {}

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  std::source_location where_;
  Start start_;
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
