// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <weft/sync/group_outcome.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// The operation that completes as the n-th cancels the others.
struct cancel_after_some {
  cancellation_type operator()(std::size_t place, const outcome_error&) const noexcept {
    return place + 1 == count ? cancellation_type::all : cancellation_type::none;
  }
  std::size_t count;
};

template <class Members>
struct finish_some {
  using signature = void(std::vector<std::size_t>, typename Members::results_type);

  template <class Handler>
  static void call(Handler&& handler, Members& members) {
    std::forward<Handler>(handler)(std::move(members.order), std::move(members.results));
  }
};

}  // namespace detail

/// Waits until `count` of the operations have completed, in whatever way, cancels the others, and
/// completes when all have: nothing goes on behind the back of who waited, and no outcome is lost.
///
///     auto [order, answers] = co_await when_some(2, ask(a), ask(b), ask(c));
///     // order[0] was the first
///
/// Completion signature: `void(std::vector<std::size_t>, std::tuple<outcome<T>...>)`, or with a
/// vector of outcomes for a range: the order in which they have completed, and what came of each. A
/// loser that completed before the cancellation reached it has its results; others say
/// operation_aborted. A count of 0, or one that is larger than the group, cancels nothing. The rest
/// as when_all.
template <class... Ops>
  requires(detail::groupable<Ops> && ...)
auto when_some(std::size_t count, Ops&&... ops) {
  return detail::make_group<detail::keep_ordered_outcomes, detail::finish_some>(
      detail::cancel_after_some{count}, std::forward<Ops>(ops)...);
}

template <detail::operation_range Range>
auto when_some(std::size_t count, Range&& operations) {
  return detail::make_group_of<detail::keep_ordered_outcomes, detail::finish_some>(
      detail::cancel_after_some{count}, std::forward<Range>(operations));
}

}  // namespace WEFT_NAMESPACE
