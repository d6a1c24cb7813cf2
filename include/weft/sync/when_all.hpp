// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/sync/group_outcome.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

struct cancel_nothing {
  cancellation_type operator()(std::size_t, const outcome_error&) const noexcept {
    return cancellation_type::none;
  }
};

template <class Members>
struct finish_all {
  using signature = void(typename Members::results_type);

  template <class Handler>
  static void call(Handler&& handler, Members& members) {
    std::forward<Handler>(handler)(std::move(members.results));
  }
};

}  // namespace detail

/// Waits for several operations at a time, and keeps what comes of each: `when_all(ops...)` is an
/// operation itself, unstarted, for co_await or a completion token.
///
///     auto [size, record] =
///         co_await when_all(socket.async_read_some(buffer), std::move(a_future));
///     if (!size)
///       std::rethrow_exception(size.error());
///
/// An operation is anything that takes a completion token, a future, or an awaitable or a task,
/// which is started as by co_spawn in the executor of whoever waits.
///
/// Completion signature: `void(std::tuple<outcome<T>...>)`, or `void(std::vector<outcome<T>>)` for
/// a range of operations of one type (moved from an rvalue, else copied). T is what a future of the
/// operation would have: nothing, the value, or a tuple, after an error_code or other disposition
/// is taken off, which makes the outcome a failure. Of no operations, it completes at once.
/// Cancellation: a request, of any type, goes to all operations; the group completes when they all
/// have. Errors: throws what an initiating function throws; what was started is cancelled then. One
/// allocation, and what the operations take. O(number of operations).
template <class... Ops>
  requires(detail::groupable<Ops> && ...)
auto when_all(Ops&&... ops) {
  return detail::make_group<detail::keep_outcomes, detail::finish_all>(detail::cancel_nothing(),
                                                                       std::forward<Ops>(ops)...);
}

template <detail::operation_range Range>
auto when_all(Range&& operations) {
  return detail::make_group_of<detail::keep_outcomes, detail::finish_all>(
      detail::cancel_nothing(), std::forward<Range>(operations));
}

}  // namespace WEFT_NAMESPACE
