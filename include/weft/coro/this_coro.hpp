// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/async/cancellation_state.hpp>

namespace WEFT_NAMESPACE::this_coro {

struct executor_t {
  constexpr executor_t() = default;
};
struct cancellation_state_t {
  constexpr cancellation_state_t() = default;
};
struct throw_if_cancelled_0_t {
  constexpr throw_if_cancelled_0_t() = default;
};
struct throw_if_cancelled_1_t {
  bool value;
};
template <class InFilter, class OutFilter>
struct reset_cancellation_state_t {
  [[no_unique_address]] InFilter in_filter;
  [[no_unique_address]] OutFilter out_filter;
};

/// `co_await this_coro::executor`: the executor of the coroutine's logical thread. It does not
/// suspend.
inline constexpr executor_t executor;

/// `co_await this_coro::cancellation_state`: the state of the logical thread, as a copy of the
/// handle: `cancelled()` tells what has been requested, `clear()` forgets it. It does not suspend.
/// The copy is good until the state is reset, and while the coroutine runs; not in destructors of
/// a coroutine that is destroyed while it waits.
inline constexpr cancellation_state_t cancellation_state;

/// `co_await this_coro::throw_if_cancelled()`: whether co_await of an operation or of an awaitable
/// throws `operation_aborted`, and starts nothing, once the logical thread has been cancelled. It
/// is so unless changed.
constexpr throw_if_cancelled_0_t throw_if_cancelled() noexcept {
  return {};
}

/// `co_await this_coro::throw_if_cancelled(b)` changes that.
constexpr throw_if_cancelled_1_t throw_if_cancelled(bool value) noexcept {
  return {value};
}

/// `co_await this_coro::reset_cancellation_state()`: connects the logical thread anew with the slot
/// that co_spawn's token has; what has been requested so far is forgotten. Terminal requests pass,
/// or what the filters let through (see weft::cancellation_state). Throws std::bad_alloc.
constexpr reset_cancellation_state_t<enable_terminal_cancellation, enable_terminal_cancellation>
reset_cancellation_state() noexcept {
  return {};
}
template <class Filter>
constexpr reset_cancellation_state_t<Filter, Filter> reset_cancellation_state(Filter filter) {
  return {filter, filter};
}
template <class InFilter, class OutFilter>
constexpr reset_cancellation_state_t<InFilter, OutFilter> reset_cancellation_state(
    InFilter in_filter, OutFilter out_filter) {
  return {std::move(in_filter), std::move(out_filter)};
}

}  // namespace WEFT_NAMESPACE::this_coro
