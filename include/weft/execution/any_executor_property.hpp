// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/any_executor_target.hpp>
#include <weft/execution/properties.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Property>
concept requirable_property = requires { requires Property::is_requirable; };
template <class Property>
concept preferable_property = requires { requires Property::is_preferable; };

template <class Property>
struct polymorphic_result {};
template <class Property>
  requires requires { typename Property::polymorphic_query_result_type; }
struct polymorphic_result<Property> {
  using polymorphic_query_result_type = typename Property::polymorphic_query_result_type;
};

}  // namespace detail

namespace execution {

template <class... SupportableProperties>
class any_executor;

/// Marks a property of an any_executor as one that may be preferred, but not required.
template <class InnerProperty>
struct prefer_only : detail::polymorphic_result<InnerProperty> {
  template <class T>
  static constexpr bool is_applicable_property_v = is_applicable_property<T, InnerProperty>::value;
  static constexpr bool is_requirable = false;
  static constexpr bool is_preferable = detail::preferable_property<InnerProperty>;

  constexpr prefer_only(const InnerProperty& p) : inner_(p) {}
  constexpr operator const InnerProperty&() const noexcept { return inner_; }

 private:
  [[no_unique_address]] InnerProperty inner_;
};

}  // namespace execution

namespace detail {

/// The property behind one of an any_executor's list.
template <class Supported>
struct inner_property {
  using type = Supported;
};
template <class Property>
struct inner_property<execution::prefer_only<Property>> {
  using type = Property;
};
template <class Supported>
using inner_property_t = typename inner_property<Supported>::type;

/// What `query` returns for a property of the list; void if it cannot be asked for.
template <class Property>
struct query_result_of {
  using type = void;
};
template <class Property>
  requires requires { typename Property::polymorphic_query_result_type; }
struct query_result_of<Property> {
  using type = typename Property::polymorphic_query_result_type;
};

/// The functions of one target for one property of the list. A null one is never called.
template <class Any, class Supported>
struct property_operations {
  using property = inner_property_t<Supported>;
  using result = typename query_result_of<property>::type;

  Any (*require)(const void* target, const property&);
  Any (*prefer)(const void* target, const property&);
  result (*query)(const void* target, const property&);

  template <class T>
  static constexpr property_operations make() {
    property_operations operations{};
    if constexpr (requirable_property<Supported>)
      operations.require = [](const void* p, const property& value) {
        return Any(WEFT_NAMESPACE::require(*static_cast<const T*>(p), value));
      };
    if constexpr (preferable_property<Supported>)
      operations.prefer = [](const void* p, const property& value) {
        return Any(WEFT_NAMESPACE::prefer(*static_cast<const T*>(p), value));
      };
    if constexpr (!std::is_void_v<result>)
      operations.query = &property_operations::template ask<T>;
    return operations;
  }

 private:
  template <class T>
  static result ask(const void* p, const property& value) {
    const T& target = *static_cast<const T*>(p);
    if constexpr (can_query_v<const T&, property>)
      return static_cast<result>(WEFT_NAMESPACE::query(target, value));
    else if constexpr (can_query_v<const T&, result>)  // the property that this is a value of
      return static_cast<result>(WEFT_NAMESPACE::query(target, result()));
    else
      return result();
  }
};

template <class Any, class... Supported>
struct any_executor_operations : target_operations, property_operations<Any, Supported>... {};

template <class Operations, class T>
struct make_operations;
template <class Any, class... Supported, class T>
struct make_operations<any_executor_operations<Any, Supported...>, T> {
  static constexpr any_executor_operations<Any, Supported...> value{
      make_target_operations<T>(), property_operations<Any, Supported>::template make<T>()...};
};
/// All functions of one type of target.
template <class Operations, class T>
inline constexpr const Operations& operations_for = make_operations<Operations, T>::value;

template <class Any>
struct operations_of;
template <class... Supported>
struct operations_of<execution::any_executor<Supported...>> {
  using type = any_executor_operations<execution::any_executor<Supported...>, Supported...>;
};
/// The functions of the targets of an any_executor.
template <class Any>
using operations_of_t = typename operations_of<Any>::type;

/// `T` is a target of `Any` whose functions are compiled in the library: operations_for is
/// specialised for it, and nothing has to be instantiated to find out that it can be one.
template <class Any, class T>
inline constexpr bool is_compiled_target = false;

template <class T, class Supported>
consteval bool check_property() {
  if constexpr (requirable_property<Supported>)
    return can_require_v<const T&, Supported>;
  else if constexpr (preferable_property<Supported>)
    return true;
  else
    return can_query_v<const T&, inner_property_t<Supported>>;
}
template <class T, class Supported>
concept supports_property = check_property<T, Supported>();

/// `T` can be the target of an any_executor with these properties.
template <class T, class... Supported>
concept any_executor_target =
    is_compiled_target<execution::any_executor<Supported...>, T> ||
    (!is_wrapper<T> && execution::executor<T> && (... && supports_property<T, Supported>));

/// `Other` is another any_executor, whose target can be had as one with these properties.
template <class Other, class Any, class... Supported>
concept any_executor_source =
    !std::is_same_v<Other, Any> && (... && supports_property<Other, Supported>);

struct not_found {
  static constexpr bool found = false;
};

/// Finds the first property of the list that `Match` accepts.
template <template <class> class Match, class... Supported>
struct find_first : not_found {};
template <template <class> class Match, class First, class... Rest>
struct find_first<Match, First, Rest...>
    : std::conditional_t<Match<First>::value, std::type_identity<First>,
                         find_first<Match, Rest...>> {
  static constexpr bool found = Match<First>::value || find_first<Match, Rest...>::found;
};

/// The property of the list through which `Property` is required: the same, else the first it
/// converts to.
template <class Property>
struct requirable_match {
  template <class S>
  using same = std::bool_constant<std::is_same_v<Property, S> && requirable_property<S>>;
  template <class S>
  using convertible =
      std::bool_constant<std::is_convertible_v<Property, S> && requirable_property<S>>;
};
template <class Property, class... Supported>
using find_requirable =
    std::conditional_t<find_first<requirable_match<Property>::template same, Supported...>::found,
                       find_first<requirable_match<Property>::template same, Supported...>,
                       find_first<requirable_match<Property>::template convertible, Supported...>>;

/// The same for prefer.
template <class Property>
struct preferable_match {
  template <class S>
  using same =
      std::bool_constant<std::is_same_v<Property, inner_property_t<S>> && preferable_property<S>>;
  template <class S>
  using convertible = std::bool_constant<std::is_convertible_v<Property, inner_property_t<S>> &&
                                         preferable_property<S>>;
};
template <class Property, class... Supported>
using find_preferable =
    std::conditional_t<find_first<preferable_match<Property>::template same, Supported...>::found,
                       find_first<preferable_match<Property>::template same, Supported...>,
                       find_first<preferable_match<Property>::template convertible, Supported...>>;

template <class T>
inline constexpr bool is_context_as = false;
template <class U>
inline constexpr bool is_context_as<execution::context_as_t<U>> = true;

/// The property of the list through which `Property` is asked for: the same, else the first it
/// converts to, else one whose value tells: a context_as for the context, one value of an
/// enumerated property for the property.
template <class Property>
struct queryable_match {
  template <class S>
  static constexpr bool has_result =
      !std::is_void_v<typename query_result_of<inner_property_t<S>>::type>;
  template <class S>
  using same = std::bool_constant<std::is_same_v<Property, inner_property_t<S>> && has_result<S>>;
  template <class S>
  using convertible =
      std::bool_constant<std::is_convertible_v<Property, inner_property_t<S>> && has_result<S>>;
  template <class S>
  using telling = std::bool_constant<
      std::is_same_v<typename query_result_of<inner_property_t<S>>::type, Property> ||
      (std::is_same_v<Property, execution::context_t> && is_context_as<inner_property_t<S>>)>;
};

template <class Found>
struct found_query : not_found {};
template <class Found>
  requires(Found::found)
struct found_query<Found> {
  static constexpr bool found = true;
  using type = typename Found::type;
  using property = inner_property_t<type>;
  using result = typename query_result_of<property>::type;

  template <class Property>
  static constexpr property convert(const Property& p) {
    if constexpr (std::is_convertible_v<const Property&, property>)
      return p;
    else
      return property{};
  }
};

template <class Property, class... Supported>
using find_queryable = found_query<std::conditional_t<
    find_first<queryable_match<Property>::template same, Supported...>::found,
    find_first<queryable_match<Property>::template same, Supported...>,
    std::conditional_t<
        find_first<queryable_match<Property>::template convertible, Supported...>::found,
        find_first<queryable_match<Property>::template convertible, Supported...>,
        find_first<queryable_match<Property>::template telling, Supported...>>>>;

}  // namespace detail
}  // namespace WEFT_NAMESPACE
