// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/base/config.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/property.hpp>

namespace WEFT_NAMESPACE::detail {

/// `E` answers a query for `P` at compile time, by a static constexpr member.
template <class E, class P>
concept constant_query =
    requires { typename std::bool_constant<(static_cast<void>(E::query(P{})), true)>; };

/// One value of an enumerated property: what can be required and preferred. `Index` counts from
/// 0, which is what holds for an executor that says nothing about the property.
template <class Property, int Index>
struct enumerator {
  template <class T>
  static constexpr bool is_applicable_property_v = execution::executor<T>;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;
  using polymorphic_query_result_type = Property;

  static constexpr Property value() { return Property(enumerator{}); }

  template <class E>
  static consteval bool is_constant() {
    if constexpr (constant_query<E, enumerator>)
      return true;
    else
      return Index == 0 && !Property::template has_query<E>();
  }
  template <class E>
  static consteval auto constant() {
    if constexpr (constant_query<E, enumerator>)
      return E::query(enumerator{});
    else
      return enumerator{};
  }
  template <class E>
    requires(is_constant<E>())
  static constexpr auto static_query_v = constant<E>();
};

/// The base of a property that has one of `Count` values.
template <class Property, int Count>
class enumerated_property {
 public:
  template <class T>
  static constexpr bool is_applicable_property_v = execution::executor<T>;
  static constexpr bool is_requirable = false;
  static constexpr bool is_preferable = false;
  using polymorphic_query_result_type = Property;

  constexpr enumerated_property() = default;
  template <int Index>
  constexpr enumerated_property(enumerator<Property, Index>) : value_(Index) {}

  friend constexpr bool operator==(const Property& a, const Property& b) noexcept {
    return a.value_ == b.value_;
  }

  /// Whether `E` can be asked at all, for the property or for one of its values.
  template <class E>
  static consteval bool has_query() {
    return asked<E, Property>() || asked_for_value<E>();
  }

  template <class E, int Index = 0>
  static consteval int constant_index() {
    if constexpr (constant_query<E, Property>)
      return Count;
    else if constexpr (Index == Count)
      return -1;
    else if constexpr (enumerator<Property, Index>::template is_constant<E>())
      return Index;
    else
      return constant_index<E, Index + 1>();
  }
  template <class E>
  static consteval auto constant() {
    if constexpr (constant_index<E>() == Count)
      return E::query(Property{});
    else
      return enumerator<Property, constant_index<E>()>::template constant<E>();
  }
  template <class E>
    requires(constant_index<E>() >= 0)
  static constexpr auto static_query_v = constant<E>();

 private:
  template <class E, class P>
  static consteval bool asked() {
    return property_call::member_query<const E&, P> || property_call::free_query<const E&, P>;
  }
  template <class E, int Index = 0>
  static consteval bool asked_for_value() {
    if constexpr (Index == Count)
      return false;
    else
      return asked<E, enumerator<Property, Index>>() || asked_for_value<E, Index + 1>();
  }

  int value_ = -1;
};

}  // namespace WEFT_NAMESPACE::detail
