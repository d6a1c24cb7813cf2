// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/deferred.hpp>
#include <weft/async/use_future.hpp>
#include <weft/sync/group_state.hpp>
#include <weft/sync/outcome.hpp>

// What when_all, when_any and when_some have in common.
namespace WEFT_NAMESPACE::detail {

/// What comes of an operation with these results: the value that a future of it would have.
template <class Results>
struct group_outcome;
template <class... Values>
struct group_outcome<std::tuple<Values...>> {
  using type = outcome<typename future_result<Values...>::type>;
};
template <class Op>
using group_outcome_t = typename group_outcome<kept_results_t<Op>>::type;

/// Keeps the outcome of each operation.
struct keep_outcomes {
  template <class Op>
  using of = group_outcome_t<Op>;
  template <class Op, class Allocator>
  using range = std::vector<of<Op>>;

  template <std::size_t N>
  static std::array<std::size_t, N> order() noexcept {
    return {};
  }

  /// What moving the results throws is their failure.
  template <class Op, class T, class... Args>
  static void store(outcome<T>& made, Args&&... args) noexcept {
    try {
      std::apply([&](auto&&... values) { set_outcome(made, std::move(values)...); },
                 kept_results_t<Op>(std::forward<Args>(args)...));
    } catch (...) {
      made.set_error(std::current_exception());
    }
  }

  template <class Condition, class T>
  static cancellation_type judge(Condition& condition, std::size_t place, const outcome<T>& made) {
    return condition(place, made);
  }
};

/// The same, and tells the order in a vector.
struct keep_ordered_outcomes : keep_outcomes {
  template <std::size_t N>
  static std::vector<std::size_t> order() {
    return std::vector<std::size_t>(N);
  }
};

/// An unstarted operation that starts a group, and has what `Finish` makes of its outcomes.
template <class Keep, template <class> class Finish, class Condition, class... Ops>
auto make_group(Condition condition, Ops&&... ops) {
  using members = tuple_members<Keep, group_operation_t<Ops>...>;
  using finish = Finish<members>;
  deferred_t token;
  return async_initiate<deferred_t, typename finish::signature>(
      initiate_group<members, finish>(), token, std::move(condition),
      std::tuple<group_operation_t<Ops>...>(group_operation(std::forward<Ops>(ops))...));
}
template <class Keep, template <class> class Finish, class Condition, operation_range Range>
auto make_group_of(Condition condition, Range&& range) {
  using allocator = std::allocator<void>;
  using members = range_members<Keep, range_operation_t<Range>, allocator>;
  using finish = Finish<members>;
  deferred_t token;
  return async_initiate<deferred_t, typename finish::signature>(
      initiate_group<members, finish>(), token, std::move(condition),
      range_operations(std::forward<Range>(range)), allocator());
}

}  // namespace WEFT_NAMESPACE::detail
