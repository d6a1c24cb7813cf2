// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/async/cancellation_state.hpp>
#include <weft/base/error_code.hpp>
#include <weft/coro/fiber/fiber_base.hpp>
#include <weft/coro/fiber/fiber_wait.hpp>
#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T, class Executor, class Function, class Handler, class StackAllocator>
class spawned_fiber;

struct yield_access {
  template <class Yield>
  static fiber_base& fiber(const Yield& y) noexcept {
    return *y.fiber_;
  }
  template <class Yield>
  static error_code* error(const Yield& y) noexcept {
    return y.error_;
  }
  template <class Yield>
  static const auto& executor(const Yield& y) noexcept {
    return y.executor_;
  }
};

}  // namespace detail

/// The token by which a fiber waits, and its hold on itself: what spawn gives to the function that
/// it calls.
///
///     void echo(tcp::socket& socket, yield_context yield) {
///       char data[1024];
///       const std::size_t n = socket.async_read_some(buffer(data), yield);
///       async_write(socket, buffer(data, n), yield);
///     }
///
/// Given to an initiating function it suspends the fiber until the operation has completed. An
/// error code that comes first in the results is taken off: it is thrown as system_error if it is
/// an error, or stored in `ec` with `yield[ec]`. One more value is returned as it is, several as a
/// tuple. With `as_tuple(yield)` nothing is thrown. Operations run with the fiber's executor as the
/// associated one, and are cancelled with the fiber; afterwards it goes on in that executor, unless
/// a token names another (`bind_executor`).
///
/// An operation that has completed inside its initiating function does not suspend the fiber, but
/// after 32 of these in a row others have their turn. If an operation ends without completing, as a
/// `post` of a function that throws does, or because its context is destroyed, the fiber's stack is
/// unwound by an exception of a type of weft's own: what catches everything rethrows it.
///
/// A light copyable handle, valid while the function of the fiber runs. Its members, and waiting,
/// are for that fiber alone.
template <class Executor>
class basic_yield_context {
 public:
  using executor_type = Executor;
  using cancellation_slot_type = cancellation_slot;

  /// The same fiber, with another type of executor.
  template <class OtherExecutor>
    requires(!std::same_as<OtherExecutor, Executor> &&
             std::is_convertible_v<const OtherExecutor&, Executor>)
  basic_yield_context(const basic_yield_context<OtherExecutor>& other)
      : fiber_(&detail::yield_access::fiber(other)),
        error_(detail::yield_access::error(other)),
        executor_(detail::yield_access::executor(other)) {}

  /// The executor that the fiber runs on.
  executor_type get_executor() const noexcept { return executor_; }

  /// The slot of the operations that the fiber waits for.
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return fiber_->cancellation.slot();
  }

  /// What has been requested of the fiber, as a copy of the handle; good until it is reset.
  WEFT_NAMESPACE::cancellation_state cancellation_state() const noexcept {
    return fiber_->cancellation;
  }
  cancellation_type cancelled() const noexcept { return fiber_->cancellation.cancelled(); }

  /// Connects the fiber anew with the slot that spawn's token has; what has been requested so far
  /// is forgotten. Terminal requests pass, or what the filters let through (see
  /// cancellation_state). Throws std::bad_alloc.
  void reset_cancellation_state() const {
    reset_cancellation_state(enable_terminal_cancellation());
  }
  template <class Filter>
  void reset_cancellation_state(Filter filter) const {
    reset_cancellation_state(filter, filter);
  }
  template <class InFilter, class OutFilter>
  void reset_cancellation_state(InFilter in_filter, OutFilter out_filter) const {
    fiber_->cancellation = {};  // what it names is gone if the next fails
    fiber_->cancellation = WEFT_NAMESPACE::cancellation_state(
        fiber_->parent_slot, std::move(in_filter), std::move(out_filter));
  }

  /// Whether waiting throws `operation_aborted`, and starts nothing, once the fiber has been
  /// cancelled. It is so unless changed.
  bool throw_if_cancelled() const noexcept { return fiber_->throws_if_cancelled; }
  void throw_if_cancelled(bool value) const noexcept { fiber_->throws_if_cancelled = value; }

  /// A token that stores the error code of an operation in `ec`.
  basic_yield_context operator[](error_code& ec) const noexcept {
    basic_yield_context result(*this);
    result.error_ = &ec;
    return result;
  }

  /// Lets others have their turn: queues the fiber with its executor. Throws if the fiber has been
  /// cancelled, as waiting does.
  [[gnu::always_inline]] void yield() const {
    fiber_->begin_wait();
    fiber_->yield();
  }

 private:
  friend detail::yield_access;
  template <class, class, class, class, class>
  friend class detail::spawned_fiber;

  basic_yield_context(detail::fiber_base& fiber, const Executor& executor)
      : fiber_(&fiber), executor_(executor) {}

  detail::fiber_base* fiber_;
  error_code* error_ = nullptr;
  [[no_unique_address]] Executor executor_;
};

using yield_context = basic_yield_context<any_io_executor>;

template <class Executor, class Signature>
class async_result<basic_yield_context<Executor>, Signature> {
 public:
  using return_type = typename detail::fiber_results_t<Signature>::type;

  template <class Initiation, class... Args>
  [[gnu::always_inline]] static return_type initiate(Initiation&& initiation,
                                                     const basic_yield_context<Executor>& yield,
                                                     Args&&... args) {
    using access = detail::yield_access;
    return detail::wait_for<Signature>(access::fiber(yield), access::executor(yield),
                                       access::error(yield), std::forward<Initiation>(initiation),
                                       std::forward<Args>(args)...);
  }
};

}  // namespace WEFT_NAMESPACE
