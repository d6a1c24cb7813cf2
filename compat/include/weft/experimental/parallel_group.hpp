// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/async_initiate.hpp>
#include <weft/async/cancellation_type.hpp>
#include <weft/async/deferred.hpp>
#include <weft/base/error_code.hpp>
#include <weft/sync/group_state.hpp>

namespace WEFT_NAMESPACE::detail {

/// As many rows of results as a range has operations, and room for a vector for each column.
template <class Results, class Allocator>
class result_rows;
template <class... Values, class Allocator>
class result_rows<std::tuple<Values...>, Allocator> {
  template <class T>
  using vector =
      std::vector<T, typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;

 public:
  using columns_type = std::tuple<vector<Values>...>;

  result_rows(std::size_t size, const Allocator& a) : rows_(size), columns_(vector<Values>(a)...) {
    std::apply([size](auto&... column) { (column.reserve(size), ...); }, columns_);
  }

  auto& operator[](std::size_t index) noexcept { return rows_[index]; }

  columns_type columns() && {
    for (auto& row : rows_)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (std::get<I>(columns_).push_back(std::get<I>(std::move(*row))), ...);
      }(std::index_sequence_for<Values...>());
    return std::move(columns_);
  }

 private:
  std::vector<std::optional<std::tuple<Values...>>> rows_;
  columns_type columns_;
};

template <class Results>
inline constexpr bool has_exception = false;
template <class... Values>
inline constexpr bool has_exception<std::tuple<std::exception_ptr, Values...>> =
    (std::is_default_constructible_v<Values> && ...);

/// Keeps all results of each operation. What moving them throws is their exception, if the
/// operation has one; otherwise they are lost.
struct keep_results {
  template <class Op>
  using of = std::optional<kept_results_t<Op>>;
  template <class Op, class Allocator>
  using range = result_rows<kept_results_t<Op>, Allocator>;

  template <std::size_t N>
  static std::array<std::size_t, N> order() noexcept {
    return {};
  }

  template <class Op, class... Args>
  static void store(of<Op>& kept, Args&&... args) {
    try {
      kept.emplace(std::forward<Args>(args)...);
    } catch (...) {
      if constexpr (has_exception<kept_results_t<Op>>)
        std::get<0>(kept.emplace()) = std::current_exception();
      else
        throw;
    }
  }

  template <class Condition, class Results>
  static cancellation_type judge(Condition& condition, std::size_t, Results& kept) {
    return std::apply(condition, *kept);
  }
};

/// Calls the handler with the order, and all results one after the other; of a range, with a vector
/// for each.
template <class Members>
struct finish_with_results {
  template <class Handler>
  static void call(Handler&& handler, Members& members) {
    const auto as_rvalues = [](auto& row) {
      return std::apply([](auto&... values) { return std::forward_as_tuple(std::move(values)...); },
                        row);
    };
    const auto give = [&](auto&&... values) {
      std::forward<Handler>(handler)(std::move(members.order), std::move(values)...);
    };
    if constexpr (requires { std::move(members.results).columns(); })
      std::apply(give, std::move(members.results).columns());
    else
      std::apply([&](auto&... each) { std::apply(give, std::tuple_cat(as_rvalues(*each)...)); },
                 members.results);
  }
};

template <class Results>
struct group_signature;
template <class... Values>
struct group_signature<std::tuple<Values...>> {
  template <std::size_t N>
  using fixed = void(std::array<std::size_t, N>, Values...);
  template <class Allocator>
  using ranged = void(
      std::vector<std::size_t,
                  typename std::allocator_traits<Allocator>::template rebind_alloc<std::size_t>>,
      std::vector<Values,
                  typename std::allocator_traits<Allocator>::template rebind_alloc<Values>>...);
};

/// A condition that looks at whether an operation has failed: whether the first of its results is
/// an error code, or an exception, that says so.
class wait_condition {
 public:
  constexpr explicit wait_condition(cancellation_type type = cancellation_type::all) noexcept
      : type_(type) {}

 protected:
  static bool has_failed() noexcept { return false; }
  template <class First, class... Args>
  static bool has_failed(const First& first, const Args&...) noexcept {
    if constexpr (std::is_same_v<First, error_code> || std::is_same_v<First, std::exception_ptr>)
      return static_cast<bool>(first);
    else
      return false;
  }

  cancellation_type type_;
};

}  // namespace WEFT_NAMESPACE::detail

/// Asio's experimental names for these.
namespace WEFT_NAMESPACE::experimental {

/// For a parallel group: waits for all operations, whatever comes of them.
class wait_for_all {
 public:
  template <class... Args>
  constexpr cancellation_type operator()(Args&&...) const noexcept {
    return cancellation_type::none;
  }
};

/// For a parallel group: the first operation that completes cancels the others.
class wait_for_one : public detail::wait_condition {
 public:
  using wait_condition::wait_condition;
  template <class... Args>
  constexpr cancellation_type operator()(Args&&...) const noexcept {
    return type_;
  }
};

/// For a parallel group: the first that completes without an error_code or an exception that says
/// otherwise cancels the others.
class wait_for_one_success : public detail::wait_condition {
 public:
  using wait_condition::wait_condition;
  template <class... Args>
  constexpr cancellation_type operator()(const Args&... args) const noexcept {
    return has_failed(args...) ? cancellation_type::none : type_;
  }
};

/// For a parallel group: the first that completes with an error_code or an exception cancels the
/// others.
class wait_for_one_error : public detail::wait_condition {
 public:
  using wait_condition::wait_condition;
  template <class... Args>
  constexpr cancellation_type operator()(const Args&... args) const noexcept {
    return has_failed(args...) ? type_ : cancellation_type::none;
  }
};

/// Several operations that are started together, and waited for together. Made by
/// make_parallel_group.
template <class... Ops>
class parallel_group {
  using members = detail::tuple_members<detail::keep_results, Ops...>;

 public:
  using signature = typename detail::group_signature<decltype(std::tuple_cat(
      std::declval<detail::kept_results_t<Ops>>()...))>::template fixed<sizeof...(Ops)>;

  explicit parallel_group(Ops... ops) : ops_(std::move(ops)...) {}

  /// Starts all, and completes when all have.
  ///
  /// Completion signature: `void(std::array<std::size_t, N>, results...)`: the order in which they
  /// have completed, and the results of all, one after the other, in the order of the group.
  /// `condition` is called with the results of each when it completes, perhaps by several threads
  /// at a time, and says which cancellation the others are to have (none, most often).
  /// Cancellation: a request goes to all operations. The operations run in the handler's associated
  /// executor, if it has one. Errors: throws what the allocation or an initiating function throws;
  /// what has been started is cancelled then. What moving a result throws is the exception of its
  /// operation, if that has one. If not, the others are cancelled, and when all have completed it
  /// leaves the handler's executor, in the place of the handler's call.
  template <class CancellationCondition, completion_token_for<signature> Token = deferred_t>
  auto async_wait(CancellationCondition condition, Token&& token = Token()) && {
    return async_initiate<Token, signature>(
        detail::initiate_group<members, detail::finish_with_results<members>>(), token,
        std::move(condition), std::move(ops_));
  }
  template <class CancellationCondition, completion_token_for<signature> Token = deferred_t>
  auto async_wait(CancellationCondition condition, Token&& token = Token()) const& {
    return parallel_group(*this).async_wait(std::move(condition), std::forward<Token>(token));
  }

 private:
  std::tuple<Ops...> ops_;
};

/// As many operations of one type as a range has.
template <class Op, class Allocator = std::allocator<void>>
class ranged_parallel_group {
  using members = detail::range_members<detail::keep_results, Op, Allocator>;

 public:
  using signature =
      typename detail::group_signature<detail::kept_results_t<Op>>::template ranged<Allocator>;

  explicit ranged_parallel_group(std::vector<Op> ops, const Allocator& allocator = Allocator())
      : ops_(std::move(ops)), allocator_(allocator) {}

  /// As parallel_group::async_wait. Completion signature: `void(std::vector<std::size_t>,
  /// std::vector<R>...)`: the order, and a vector for each result that one operation has. An empty
  /// group completes at once.
  template <class CancellationCondition, completion_token_for<signature> Token = deferred_t>
  auto async_wait(CancellationCondition condition, Token&& token = Token()) && {
    return async_initiate<Token, signature>(
        detail::initiate_group<members, detail::finish_with_results<members>>(), token,
        std::move(condition), std::move(ops_), allocator_);
  }
  template <class CancellationCondition, completion_token_for<signature> Token = deferred_t>
  auto async_wait(CancellationCondition condition, Token&& token = Token()) const& {
    return ranged_parallel_group(*this).async_wait(std::move(condition),
                                                   std::forward<Token>(token));
  }

 private:
  std::vector<Op> ops_;
  [[no_unique_address]] Allocator allocator_;
};

/// A group of asynchronous operations: function objects that take a completion token, as `deferred`
/// makes them; futures; awaitables, which are started as by co_spawn in the handler's executor.
///
///     make_parallel_group(timer.async_wait(deferred), socket.async_read_some(buffer, deferred))
///         .async_wait(wait_for_one(), [](std::array<std::size_t, 2> order, error_code timer_error,
///                                        error_code read_error, std::size_t n) { ... });
template <class... Ops>
  requires(detail::groupable<Ops> && ...)
auto make_parallel_group(Ops&&... ops) {
  return parallel_group<detail::group_operation_t<Ops>...>(
      detail::group_operation(std::forward<Ops>(ops))...);
}

/// A group of the operations in a range, which are copied, or moved from an rvalue.
template <detail::operation_range Range>
auto make_parallel_group(Range&& range) {
  using op = detail::range_operation_t<Range>;
  return ranged_parallel_group<op>(detail::range_operations(std::forward<Range>(range)));
}

/// The same, with vectors of results from `allocator`.
template <class Allocator, detail::operation_range Range>
auto make_parallel_group(std::allocator_arg_t, const Allocator& allocator, Range&& range) {
  using op = detail::range_operation_t<Range>;
  return ranged_parallel_group<op, Allocator>(detail::range_operations(std::forward<Range>(range)),
                                              allocator);
}

}  // namespace WEFT_NAMESPACE::experimental
