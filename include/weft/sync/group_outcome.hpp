// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
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

  static type of(std::tuple<Values...>&& results) {
    type made;
    std::apply([&](auto&&... values) { set_outcome(made, std::move(values)...); },
               std::move(results));
    return made;
  }
};

template <class Op>
using group_outcome_t = typename group_outcome<kept_results_t<Op>>::type;

/// All outcomes of a group: a tuple of them, or of a range a vector.
template <class Members>
struct group_outcomes;
template <class... Ops>
struct group_outcomes<tuple_members<Ops...>> {
  using type = std::tuple<group_outcome_t<Ops>...>;

  template <class Kept>
  static type of(Kept& kept) {
    return std::apply(
        [](auto&... each) {
          return type(group_outcome<typename std::decay_t<decltype(each)>::value_type>::of(
              std::move(*each))...);
        },
        kept.results);
  }
};
template <class Op, class Allocator>
struct group_outcomes<range_members<Op, Allocator>> {
  using type = std::vector<group_outcome_t<Op>>;

  template <class Kept>
  static type of(Kept& kept) {
    type made;
    made.reserve(kept.results.size());
    for (auto& each : kept.results)
      made.push_back(group_outcome<kept_results_t<Op>>::of(std::move(*each)));
    return made;
  }
};

/// An unstarted operation that starts a group, and has what `Finish` makes of its outcomes.
template <template <class> class Finish, class Condition, class... Ops>
auto make_group(Condition condition, Ops&&... ops) {
  using members = tuple_members<group_operation_t<Ops>...>;
  using finish = Finish<members>;
  deferred_t token;
  return async_initiate<deferred_t, typename finish::signature>(
      initiate_group<members, finish>(), token, std::move(condition),
      std::tuple<group_operation_t<Ops>...>(group_operation(std::forward<Ops>(ops))...));
}
template <template <class> class Finish, class Condition, operation_range Range>
auto make_group_of(Condition condition, Range&& range) {
  using allocator = std::allocator<void>;
  using members = range_members<range_operation_t<Range>, allocator>;
  using finish = Finish<members>;
  deferred_t token;
  return async_initiate<deferred_t, typename finish::signature>(
      initiate_group<members, finish>(), token, std::move(condition),
      range_operations(std::forward<Range>(range)), allocator());
}

}  // namespace WEFT_NAMESPACE::detail
