// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/any_executor_property.hpp>
#include <weft/execution/any_executor_target.hpp>

namespace WEFT_NAMESPACE::execution {

/// An executor of any type that supports the given properties, behind one type. Each of
/// `SupportableProperties` can be required, preferred and queried as the target can; one that is
/// wrapped in prefer_only can be preferred, and is ignored by targets that lack it.
///
/// A target of up to three pointers' size is stored in place; others are in one block, shared by
/// the copies. `execute(f)` allocates once, or not at all if the target always runs functions
/// inline. `const` members may be called from any threads at once.
///
///     using pool_executor = weft::execution::any_executor<
///         weft::execution::blocking_t::never_t,
///         weft::execution::prefer_only<weft::execution::relationship_t::continuation_t>>;
///     pool_executor ex = pool.get_executor();
///     weft::require(ex, weft::execution::blocking.never).execute([] { ... });
template <class... SupportableProperties>
class any_executor : public detail::any_executor_base {
  using operations_type = detail::operations_of_t<any_executor>;
  template <class Property>
  using requirable = detail::find_requirable<Property, SupportableProperties...>;
  template <class Property>
  using preferable = detail::find_preferable<Property, SupportableProperties...>;
  template <class Property>
  using queryable = detail::find_queryable<Property, SupportableProperties...>;

 public:
  any_executor() noexcept = default;
  any_executor(std::nullptr_t) noexcept {}
  any_executor(const any_executor&) noexcept = default;
  /// Leaves the other empty.
  any_executor(any_executor&&) noexcept = default;

  /// Wraps `ex`. Throws bad_alloc if it needs memory and there is none.
  template <class Executor>
    requires detail::any_executor_target<Executor, SupportableProperties...>
  any_executor(Executor ex) {
    this->emplace(detail::operations_for<operations_type, Executor>, std::move(ex));
  }

  /// Has the target of `other`, whose properties apply as well. Empty if `other` is.
  template <class... OtherProperties>
    requires detail::any_executor_source<any_executor<OtherProperties...>, any_executor,
                                         SupportableProperties...>
  any_executor(any_executor<OtherProperties...> other) {
    if (other)
      this->emplace(detail::operations_for<operations_type, any_executor<OtherProperties...>>,
                    std::move(other));
  }

  // With std::nothrow the wrapper is empty where memory for the target could not be had.
  any_executor(std::nothrow_t, const any_executor& other) noexcept : any_executor(other) {}
  any_executor(std::nothrow_t, any_executor&& other) noexcept : any_executor(std::move(other)) {}
  template <class Executor>
    requires detail::any_executor_target<Executor, SupportableProperties...>
  any_executor(std::nothrow_t, Executor ex) noexcept {
    try {
      *this = any_executor(std::move(ex));
    } catch (const std::bad_alloc&) {}
  }
  template <class... OtherProperties>
    requires detail::any_executor_source<any_executor<OtherProperties...>, any_executor,
                                         SupportableProperties...>
  any_executor(std::nothrow_t, any_executor<OtherProperties...> other) noexcept {
    try {
      *this = any_executor(std::move(other));
    } catch (const std::bad_alloc&) {}
  }

  any_executor& operator=(const any_executor&) noexcept = default;
  any_executor& operator=(any_executor&&) noexcept = default;
  any_executor& operator=(std::nullptr_t) noexcept {
    this->clear();
    return *this;
  }
  template <class Executor>
    requires detail::any_executor_target<Executor, SupportableProperties...>
  any_executor& operator=(Executor ex) {
    return *this = any_executor(std::move(ex));
  }

  void swap(any_executor& other) noexcept { this->swap_target(other); }

  /// The target with the property applied, wrapped. For use through weft::require. This and the
  /// next two throw bad_executor if there is no target.
  template <class Property>
    requires(requirable<Property>::found)
  any_executor require(const Property& p) const {
    const void* target = this->checked_address();
    return table<typename requirable<Property>::type>().require(target, p);
  }

  /// The same, if the target can do that; else a copy. For use through weft::prefer.
  template <class Property>
    requires(preferable<Property>::found)
  any_executor prefer(const Property& p) const {
    const void* target = this->checked_address();
    return table<typename preferable<Property>::type>().prefer(target, p);
  }

  /// The target's value of the property, or a default-constructed one if it has none. For use
  /// through weft::query.
  template <class Property>
    requires(queryable<Property>::found)
  typename queryable<Property>::result query(const Property& p) const {
    const void* target = this->checked_address();
    return table<typename queryable<Property>::type>().query(target,
                                                             queryable<Property>::convert(p));
  }

  /// The context, if the properties include a context_as.
  decltype(auto) context() const
    requires(queryable<context_t>::found)
  {
    return query(context_t{});
  }

 private:
  template <class Supported>
  const detail::property_operations<any_executor, Supported>& table() const noexcept {
    return *static_cast<const operations_type*>(this->operations());
  }
};

// Templates, so that a type which merely names an any_executor in its arguments, as strand does,
// is never converted to one in order to be compared.

/// Whether both have targets that are equal, or neither has one.
template <class... Properties, class... OtherProperties>
bool operator==(const any_executor<Properties...>& a,
                const any_executor<OtherProperties...>& b) noexcept {
  return detail::any_executor_base::equal(a, b);
}
/// Whether the target is of that type and equal to `b`: as if `b` were wrapped first.
template <class... Properties, class Executor>
  requires detail::any_executor_target<Executor, Properties...>
bool operator==(const any_executor<Properties...>& a, const Executor& b) noexcept {
  const Executor* const target = a.template target<Executor>();
  return target && static_cast<bool>(*target == b);
}
template <class... Properties>
bool operator==(const any_executor<Properties...>& a, std::nullptr_t) noexcept {
  return !a;
}

template <class... Properties>
void swap(any_executor<Properties...>& a, any_executor<Properties...>& b) noexcept {
  a.swap(b);
}

}  // namespace WEFT_NAMESPACE::execution
