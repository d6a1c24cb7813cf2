// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

#include <weft/sync/group_outcome.hpp>
#include <weft/sync/when_some.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Members>
struct finish_any {
  using signature = void(std::size_t, typename Members::results_type);

  template <class Handler>
  static void call(Handler&& handler, Members& members) {
    const std::size_t first = members.order.empty() ? 0 : *members.order.begin();
    std::forward<Handler>(handler)(first, std::move(members.results));
  }
};

}  // namespace detail

/// Waits until one of the operations has completed, in whatever way, cancels the others, and
/// completes when all have.
///
///     auto [first, outcomes] =
///         co_await when_any(socket.async_read_some(buffer), timer.async_wait());
///     if (first == 0)
///       use(std::get<0>(outcomes).get());
///
/// Completion signature: `void(std::size_t, std::tuple<outcome<T>...>)`, or with a vector of
/// outcomes for a range: the index of the first that completed, and what came of each. Of no
/// operations, it completes at once, with index 0. The rest as when_some.
template <class... Ops>
  requires(detail::groupable<Ops> && ...)
auto when_any(Ops&&... ops) {
  return detail::make_group<detail::keep_outcomes, detail::finish_any>(detail::cancel_after_some{1},
                                                                       std::forward<Ops>(ops)...);
}

template <detail::operation_range Range>
auto when_any(Range&& operations) {
  return detail::make_group_of<detail::keep_outcomes, detail::finish_any>(
      detail::cancel_after_some{1}, std::forward<Range>(operations));
}

}  // namespace WEFT_NAMESPACE
