// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <weft/async/associator.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/properties.hpp>

namespace WEFT_NAMESPACE {

class any_io_executor;

template <class T, class Executor>
struct associated_immediate_executor;

namespace detail {

/// The immediate executor where none is associated: one that never calls inline. A Networking TS
/// executor has no property to say so; it is wrapped in one whose `dispatch` posts.
template <class Executor>
class posting_executor {
 public:
  explicit posting_executor(const Executor& ex) noexcept : inner_(ex) {}

  decltype(auto) context() const noexcept { return inner_.context(); }
  void on_work_started() const noexcept { inner_.on_work_started(); }
  void on_work_finished() const noexcept { inner_.on_work_finished(); }
  template <class Function, class Allocator>
  void dispatch(Function&& f, const Allocator& a) const {
    inner_.post(std::forward<Function>(f), a);
  }
  template <class Function, class Allocator>
  void post(Function&& f, const Allocator& a) const {
    inner_.post(std::forward<Function>(f), a);
  }
  template <class Function, class Allocator>
  void defer(Function&& f, const Allocator& a) const {
    inner_.defer(std::forward<Function>(f), a);
  }
  friend bool operator==(const posting_executor&, const posting_executor&) noexcept = default;

 private:
  Executor inner_;
};

template <class Executor>
auto never_inline(const Executor& ex) {
  if constexpr (can_require_v<const Executor&, execution::blocking_t::never_t>)
    return WEFT_NAMESPACE::require(ex, execution::blocking.never);
  else if constexpr (execution::is_executor_v<Executor>)
    return ex;
  else if constexpr (std::copy_constructible<Executor>)
    return posting_executor<Executor>(ex);
  // A context is asked about too, while overloads are chosen; it is no executor.
}
WEFT_API any_io_executor never_inline(const any_io_executor& ex);

/// Of what has none of its own.
template <class Executor>
struct default_immediate_executor {
  using is_unassociated = void;
  using type = decltype(detail::never_inline(std::declval<const Executor&>()));
  template <class T>
  static type get(const T&, const Executor& ex) noexcept {
    return detail::never_inline(ex);
  }
};

template <class T, class Executor>
struct immediate_executor_association : default_immediate_executor<Executor> {};

template <class T, class Executor>
  requires requires { typename T::immediate_executor_type; }
struct immediate_executor_association<T, Executor> {
  using type = typename T::immediate_executor_type;
  static decltype(auto) get(const T& t, const Executor&) noexcept {
    return t.get_immediate_executor();
  }
};

template <class T, class Executor>
  requires(!requires { typename T::immediate_executor_type; }) &&
          requires { typename associator<associated_immediate_executor, T, Executor>::type; }
struct immediate_executor_association<T, Executor>
    : associator<associated_immediate_executor, T, Executor> {};

}  // namespace detail

/// The executor through which the handler `T` of an operation that finished inside its initiating
/// function is dispatched. By default it is the I/O executor with `blocking.never`: the handler is
/// never called inline. (An executor that cannot but call inline, `inline_executor`, is used as it
/// is.)
///
/// Customise it by a member type `immediate_executor_type` with `get_immediate_executor() const
/// noexcept`, by specialising `associator`, or by specialising this template (`type`, `get(t,
/// ex)`).
template <class T, class Executor>
struct associated_immediate_executor : detail::immediate_executor_association<T, Executor> {};

template <class T, class Executor>
using associated_immediate_executor_t = typename associated_immediate_executor<T, Executor>::type;

template <class T, class Executor>
  requires(execution::is_executor_v<Executor> || is_executor<Executor>::value)
auto get_associated_immediate_executor(const T& t, const Executor& ex) noexcept
    -> decltype(associated_immediate_executor<T, Executor>::get(t, ex)) {
  return associated_immediate_executor<T, Executor>::get(t, ex);
}

template <class T, class ExecutionContext>
  requires std::convertible_to<ExecutionContext&, execution_context&>
auto get_associated_immediate_executor(const T& t, ExecutionContext& ctx) noexcept
    -> associated_immediate_executor_t<T, typename ExecutionContext::executor_type> {
  return associated_immediate_executor<T, typename ExecutionContext::executor_type>::get(
      t, ctx.get_executor());
}

}  // namespace WEFT_NAMESPACE
