// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

namespace execution {

/// A function object that stands for all others where a type is checked to be an executor.
struct invocable_archetype {
  template <class... Args>
  void operator()(Args&&...) {}
};

}  // namespace execution

namespace detail {

/// `execute` is asked for first: a class with a constructor from any_executor is asked here whether
/// it is an executor when its own copy constructor is looked for, and has to be out before that.
template <class E, class F>
concept executes =
    std::invocable<std::decay_t<F>&> && std::constructible_from<std::decay_t<F>, F> &&
    std::move_constructible<std::decay_t<F>> &&
    requires(const E& e, F&& f) { e.execute(static_cast<F&&>(f)); } &&
    std::is_nothrow_copy_constructible_v<E> && std::equality_comparable<E>;

}  // namespace detail

namespace execution {

/// A type whose objects run functions: copyable without an exception, comparable, and with a const
/// member `execute(f)`, which runs a nullary function once, here or elsewhere, now or later. What
/// else it can do, it says by properties (blocking, relationship, context, ...). All its
/// members may be called from any thread.
///
///     struct my_executor {
///       my_queue* queue;
///       weft::execution_context& query(weft::execution::context_t) const noexcept;
///       static constexpr auto query(weft::execution::blocking_t) noexcept {
///         return weft::execution::blocking.never;
///       }
///       template <class F> void execute(F f) const { queue->push(std::move(f)); }
///       bool operator==(const my_executor&) const noexcept = default;
///     };
template <class E>
concept executor = detail::executes<E, invocable_archetype>;

/// An executor that accepts functions of type `F`.
template <class E, class F>
concept executor_of = executor<E> && detail::executes<E, F>;

/// The executor concept as a trait.
template <class T>
struct is_executor : std::bool_constant<executor<T>> {};
template <class T>
inline constexpr bool is_executor_v = executor<T>;

}  // namespace execution

namespace detail {

template <class T>
concept ts_executor =
    requires(const T& e, execution::invocable_archetype f, const std::allocator<void>& a) {
      { e.context() } -> std::same_as<std::remove_reference_t<decltype(e.context())>&>;
      e.on_work_started();
      e.on_work_finished();
      e.dispatch(static_cast<execution::invocable_archetype&&>(f), a);
      e.post(static_cast<execution::invocable_archetype&&>(f), a);
      e.defer(static_cast<execution::invocable_archetype&&>(f), a);
    } && std::copy_constructible<T> && std::equality_comparable<T>;

/// An executor of either style.
template <class T>
concept any_style_executor = execution::executor<T> || ts_executor<T>;

}  // namespace detail

/// Whether `T` is an executor in the style of the Networking TS: copyable, comparable, with const
/// members `context()`, `on_work_started()`, `on_work_finished()`, `dispatch(f, a)`, `post(f, a)`
/// and `defer(f, a)`. Both styles are accepted everywhere; if a type has both, the properties are
/// used.
template <class T>
struct is_executor : std::bool_constant<detail::ts_executor<T>> {};
template <class T>
inline constexpr bool is_executor_v = is_executor<T>::value;

}  // namespace WEFT_NAMESPACE
