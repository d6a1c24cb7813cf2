// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {

/// Adapts an executor: what is dispatched to it (`execute` with blocking.always or
/// blocking.possibly) is called at once, whatever thread that is; what is posted (blocking.never)
/// goes to the inner executor. It has the style of the inner executor. An exception from a
/// function called at once goes on, or ends the program, as the inline_exception_handling property
/// says. All else is as with the inner executor.
///
///     auto ex = weft::inline_or(io);
///     weft::dispatch(ex, [] { ... });  // here and now
///     weft::post(ex, [] { ... });      // on a thread that runs io
template <class Executor, class Blocking = execution::blocking_t::always_t,
          class InlineExceptionHandling = execution::inline_exception_handling_t::propagate_t>
class inline_or_executor {
  using blocking_type = execution::blocking_t;
  using handling_type = execution::inline_exception_handling_t;
  template <class E, class B = Blocking, class H = InlineExceptionHandling>
  using rebind = inline_or_executor<E, B, H>;
  /// Properties that the adapter answers for itself.
  template <class P>
  static constexpr bool own =
      std::is_convertible_v<P, blocking_type> || std::is_convertible_v<P, handling_type>;

 public:
  using inner_executor_type = Executor;

  inline_or_executor()
    requires std::default_initializable<Executor>
  = default;
  template <class Executor1>
    requires(!std::is_same_v<Executor1, inline_or_executor> &&
             std::is_convertible_v<Executor1, Executor>)
  inline_or_executor(const Executor1& e) : executor_(e) {}
  inline_or_executor(const inline_or_executor&) noexcept = default;
  inline_or_executor(inline_or_executor&&) noexcept = default;
  template <class OtherExecutor>
    requires std::is_convertible_v<const OtherExecutor&, Executor>
  inline_or_executor(
      const inline_or_executor<OtherExecutor, Blocking, InlineExceptionHandling>& other) noexcept
      : executor_(other.get_inner_executor()) {}
  inline_or_executor& operator=(const inline_or_executor&) noexcept = default;
  inline_or_executor& operator=(inline_or_executor&&) noexcept = default;
  template <class OtherExecutor>
    requires std::is_convertible_v<const OtherExecutor&, Executor>
  inline_or_executor& operator=(
      const inline_or_executor<OtherExecutor, Blocking, InlineExceptionHandling>& other) noexcept {
    executor_ = other.get_inner_executor();
    return *this;
  }

  inner_executor_type get_inner_executor() const noexcept { return executor_; }

  rebind<Executor, blocking_type::possibly_t> require(blocking_type::possibly_t) const noexcept {
    return executor_;
  }
  rebind<Executor, blocking_type::always_t> require(blocking_type::always_t) const noexcept {
    return executor_;
  }
  rebind<Executor, blocking_type::never_t> require(blocking_type::never_t) const noexcept {
    return executor_;
  }
  rebind<Executor, Blocking, handling_type::propagate_t> require(
      handling_type::propagate_t) const noexcept {
    return executor_;
  }
  rebind<Executor, Blocking, handling_type::terminate_t> require(
      handling_type::terminate_t) const noexcept {
    return executor_;
  }
  /// Applies another property to the inner executor.
  template <class Property>
    requires(!own<Property> && can_require_v<const Executor&, Property>)
  rebind<std::decay_t<require_result_t<const Executor&, Property>>> require(
      const Property& p) const {
    return WEFT_NAMESPACE::require(executor_, p);
  }
  template <class Property>
    requires(!own<Property> && can_prefer_v<const Executor&, Property>)
  rebind<std::decay_t<prefer_result_t<const Executor&, Property>>> prefer(const Property& p) const {
    return WEFT_NAMESPACE::prefer(executor_, p);
  }

  static constexpr blocking_type query(blocking_type) noexcept { return Blocking(); }
  static constexpr handling_type query(handling_type) noexcept { return InlineExceptionHandling(); }
  template <class Property>
    requires(!own<Property> && can_query_v<const Executor&, Property>)
  query_result_t<const Executor&, Property> query(const Property& p) const
      noexcept(is_nothrow_query_v<const Executor&, Property>) {
    return WEFT_NAMESPACE::query(executor_, p);
  }

  /// Calls or submits `f`, as the blocking property says.
  template <class Function>
    requires execution::executor<Executor>
  void execute(Function&& f) const {
    if constexpr (!std::is_same_v<Blocking, blocking_type::never_t>)
      detail::invoke_inline<InlineExceptionHandling>(std::forward<Function>(f));
    else if constexpr (can_require_v<const Executor&, blocking_type::never_t>)
      WEFT_NAMESPACE::require(executor_, execution::blocking.never)
          .execute(std::forward<Function>(f));
    else
      executor_.execute(std::forward<Function>(f));
  }

  decltype(auto) context() const noexcept
    requires requires(const Executor& e) { detail::executor_context(e); }
  {
    return detail::executor_context(executor_);
  }
  void on_work_started() const noexcept
    requires detail::ts_executor<Executor>
  {
    executor_.on_work_started();
  }
  void on_work_finished() const noexcept
    requires detail::ts_executor<Executor>
  {
    executor_.on_work_finished();
  }
  /// Calls `f` at once.
  template <class Function, class Allocator>
    requires detail::ts_executor<Executor>
  void dispatch(Function&& f, const Allocator&) const {
    detail::invoke_inline<InlineExceptionHandling>(std::forward<Function>(f));
  }
  /// Submits `f` to the inner executor; so does defer.
  template <class Function, class Allocator>
    requires detail::ts_executor<Executor>
  void post(Function&& f, const Allocator& a) const {
    executor_.post(std::forward<Function>(f), a);
  }
  template <class Function, class Allocator>
    requires detail::ts_executor<Executor>
  void defer(Function&& f, const Allocator& a) const {
    executor_.defer(std::forward<Function>(f), a);
  }

  friend bool operator==(const inline_or_executor& a, const inline_or_executor& b) noexcept {
    return a.executor_ == b.executor_;
  }

 private:
  [[no_unique_address]] Executor executor_;
};

/// An inline_or_executor over `ex`.
template <detail::any_style_executor Executor>
inline_or_executor<Executor> inline_or(const Executor& ex) {
  return inline_or_executor<Executor>(ex);
}

/// An inline_or_executor over a context's executor.
template <detail::execution_context_type ExecutionContext>
inline_or_executor<typename ExecutionContext::executor_type> inline_or(ExecutionContext& context) {
  return inline_or_executor<typename ExecutionContext::executor_type>(context.get_executor());
}

}  // namespace WEFT_NAMESPACE
