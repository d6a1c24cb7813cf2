// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Whether `Property` can be asked of, or applied to, objects of type `T`. By default what the
/// property's own `template <class T> static constexpr bool is_applicable_property_v` says; may
/// be specialised for a user's types.
template <class T, class Property>
struct is_applicable_property : std::false_type {};
template <class T, class Property>
  requires requires { requires Property::template is_applicable_property_v<T>; }
struct is_applicable_property<T, Property> : std::true_type {};
template <class T, class Property>
inline constexpr bool is_applicable_property_v = is_applicable_property<T, Property>::value;

namespace detail::property_call {

// Ordinary lookup stops at these, so that the calls below find free functions by argument only.
void query() = delete;
void require() = delete;
void prefer() = delete;
void require_concept() = delete;

template <class T, class P>
concept statically_known = requires { P::template static_query_v<T>; };
/// It is known at compile time that the property holds already.
template <class T, class P>
concept held = statically_known<T, P> && requires {
  requires static_cast<bool>(P::template static_query_v<T> == P::value());
};

template <class T, class P>
concept requirable = is_applicable_property<T, P>::value && requires { requires P::is_requirable; };
template <class T, class P>
concept preferable = is_applicable_property<T, P>::value && requires { requires P::is_preferable; };
template <class T, class P>
concept concept_requirable =
    is_applicable_property<T, P>::value && requires { requires P::is_requirable_concept; };

template <class T, class P>
concept member_query = requires(T&& t, const P& p) { static_cast<T&&>(t).query(p); };
template <class T, class P>
concept free_query = requires(T&& t, const P& p) { query(static_cast<T&&>(t), p); };
template <class T, class P>
concept member_require = requires(T&& t, const P& p) { static_cast<T&&>(t).require(p); };
template <class T, class P>
concept free_require = requires(T&& t, const P& p) { require(static_cast<T&&>(t), p); };
template <class T, class P>
concept member_prefer = requires(T&& t, const P& p) { static_cast<T&&>(t).prefer(p); };
template <class T, class P>
concept free_prefer = requires(T&& t, const P& p) { prefer(static_cast<T&&>(t), p); };
template <class T, class P>
concept member_require_concept =
    requires(T&& t, const P& p) { static_cast<T&&>(t).require_concept(p); };
template <class T, class P>
concept free_require_concept =
    requires(T&& t, const P& p) { require_concept(static_cast<T&&>(t), p); };

template <class T, class P>
concept can_query =
    is_applicable_property<std::remove_cvref_t<T>, P>::value &&
    (statically_known<std::remove_cvref_t<T>, P> || member_query<T, P> || free_query<T, P>);
template <class T, class P>
concept can_require =
    requirable<std::remove_cvref_t<T>, P> &&
    (held<std::remove_cvref_t<T>, P> || member_require<T, P> || free_require<T, P>);
template <class T, class P>
concept can_prefer = preferable<std::remove_cvref_t<T>, P>;
template <class T, class P>
concept can_require_concept =
    concept_requirable<std::remove_cvref_t<T>, P> &&
    (held<std::remove_cvref_t<T>, P> || member_require_concept<T, P> || free_require_concept<T, P>);

/// The object itself: an lvalue stays one, an rvalue becomes a new value, so that nothing dangles.
template <class T>
using same = std::conditional_t<std::is_lvalue_reference_v<T>, T, std::remove_cvref_t<T>>;
template <class T>
inline constexpr bool nothrow_same = std::is_nothrow_constructible_v<same<T>, T>;

struct query_function {
  template <class T, class P>
    requires can_query<T, P>
  constexpr decltype(auto) operator()(T&& t, const P& p) const noexcept(nothrow<T, P>()) {
    if constexpr (statically_known<std::remove_cvref_t<T>, P>)
      return P::template static_query_v<std::remove_cvref_t<T>>;
    else if constexpr (member_query<T, P>)
      return static_cast<T&&>(t).query(p);
    else
      return query(static_cast<T&&>(t), p);
  }

 private:
  template <class T, class P>
  static consteval bool nothrow() {
    if constexpr (statically_known<std::remove_cvref_t<T>, P>)
      return true;
    else if constexpr (member_query<T, P>)
      return noexcept(std::declval<T>().query(std::declval<const P&>()));
    else
      return noexcept(query(std::declval<T>(), std::declval<const P&>()));
  }
};

struct require_function {
  template <class T, class P>
    requires can_require<T, P>
  constexpr decltype(auto) operator()(T&& t, const P& p) const noexcept(nothrow<T, P>()) {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return static_cast<same<T>>(static_cast<T&&>(t));
    else if constexpr (member_require<T, P>)
      return static_cast<T&&>(t).require(p);
    else
      return require(static_cast<T&&>(t), p);
  }

  template <class T, class P0, class P1, class... Pn, class Self = require_function>
    requires can_require<T, P0>
  constexpr auto operator()(T&& t, const P0& p0, const P1& p1, const Pn&... pn) const noexcept(
      noexcept(std::declval<const Self&>()(std::declval<const Self&>()(static_cast<T&&>(t), p0), p1,
                                           pn...)))
      -> decltype(std::declval<const Self&>()(std::declval<const Self&>()(static_cast<T&&>(t), p0),
                                              p1, pn...)) {
    return (*this)((*this)(static_cast<T&&>(t), p0), p1, pn...);
  }

 private:
  template <class T, class P>
  static consteval bool nothrow() {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return nothrow_same<T>;
    else if constexpr (member_require<T, P>)
      return noexcept(std::declval<T>().require(std::declval<const P&>()));
    else
      return noexcept(require(std::declval<T>(), std::declval<const P&>()));
  }
};

struct prefer_function {
  template <class T, class P>
    requires can_prefer<T, P>
  constexpr decltype(auto) operator()(T&& t, const P& p) const noexcept(nothrow<T, P>()) {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return static_cast<same<T>>(static_cast<T&&>(t));
    else if constexpr (member_require<T, P>)
      return static_cast<T&&>(t).require(p);
    else if constexpr (free_require<T, P>)
      return require(static_cast<T&&>(t), p);
    else if constexpr (member_prefer<T, P>)
      return static_cast<T&&>(t).prefer(p);
    else if constexpr (free_prefer<T, P>)
      return prefer(static_cast<T&&>(t), p);
    else
      return static_cast<same<T>>(static_cast<T&&>(t));
  }

  template <class T, class P0, class P1, class... Pn, class Self = prefer_function>
    requires can_prefer<T, P0>
  constexpr auto operator()(T&& t, const P0& p0, const P1& p1, const Pn&... pn) const noexcept(
      noexcept(std::declval<const Self&>()(std::declval<const Self&>()(static_cast<T&&>(t), p0), p1,
                                           pn...)))
      -> decltype(std::declval<const Self&>()(std::declval<const Self&>()(static_cast<T&&>(t), p0),
                                              p1, pn...)) {
    return (*this)((*this)(static_cast<T&&>(t), p0), p1, pn...);
  }

 private:
  template <class T, class P>
  static consteval bool nothrow() {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return nothrow_same<T>;
    else if constexpr (member_require<T, P>)
      return noexcept(std::declval<T>().require(std::declval<const P&>()));
    else if constexpr (free_require<T, P>)
      return noexcept(require(std::declval<T>(), std::declval<const P&>()));
    else if constexpr (member_prefer<T, P>)
      return noexcept(std::declval<T>().prefer(std::declval<const P&>()));
    else if constexpr (free_prefer<T, P>)
      return noexcept(prefer(std::declval<T>(), std::declval<const P&>()));
    else
      return nothrow_same<T>;
  }
};

struct require_concept_function {
  template <class T, class P>
    requires can_require_concept<T, P>
  constexpr decltype(auto) operator()(T&& t, const P& p) const noexcept(nothrow<T, P>()) {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return static_cast<same<T>>(static_cast<T&&>(t));
    else if constexpr (member_require_concept<T, P>)
      return static_cast<T&&>(t).require_concept(p);
    else
      return require_concept(static_cast<T&&>(t), p);
  }

 private:
  template <class T, class P>
  static consteval bool nothrow() {
    if constexpr (held<std::remove_cvref_t<T>, P>)
      return nothrow_same<T>;
    else if constexpr (member_require_concept<T, P>)
      return noexcept(std::declval<T>().require_concept(std::declval<const P&>()));
    else
      return noexcept(require_concept(std::declval<T>(), std::declval<const P&>()));
  }
};

}  // namespace detail::property_call

/// `query(e, p)`: the value of the property `p` of `e`. It is the first of these that is
/// well-formed: `P::static_query_v<E>`, `e.query(p)`, and a free `query(e, p)` found by argument.
///
///     if (weft::query(ex, weft::execution::blocking) == weft::execution::blocking.never) ...
inline constexpr detail::property_call::query_function query{};

/// `require(e, p...)`: an object like `e` that has the properties `p...`, applied from left to
/// right: `e` itself if that is known at compile time to hold already, else `e.require(p)`, else a
/// free `require(e, p)` found by argument. Does not compile if there is none of these.
inline constexpr detail::property_call::require_function require{};

/// `prefer(e, p...)`: like require if that is possible; else `e.prefer(p)`, or a free
/// `prefer(e, p)` found by argument, or `e` itself.
inline constexpr detail::property_call::prefer_function prefer{};

/// `require_concept(e, p)`: like require, for properties that change what concept an object
/// models.
inline constexpr detail::property_call::require_concept_function require_concept{};

/// Whether `query(t, p)` is well-formed; likewise the traits below for the other three.
template <class T, class Property>
    struct can_query : std::bool_constant < requires {
  query(std::declval<T>(), std::declval<Property>());
}>{};
template <class T, class... Properties>
    struct can_require : std::bool_constant < requires {
  require(std::declval<T>(), std::declval<Properties>()...);
}>{};
template <class T, class... Properties>
    struct can_prefer : std::bool_constant < requires {
  prefer(std::declval<T>(), std::declval<Properties>()...);
}>{};
template <class T, class Property>
    struct can_require_concept : std::bool_constant < requires {
  require_concept(std::declval<T>(), std::declval<Property>());
}>{};
template <class T, class Property>
inline constexpr bool can_query_v = can_query<T, Property>::value;
template <class T, class... Properties>
inline constexpr bool can_require_v = can_require<T, Properties...>::value;
template <class T, class... Properties>
inline constexpr bool can_prefer_v = can_prefer<T, Properties...>::value;
template <class T, class Property>
inline constexpr bool can_require_concept_v = can_require_concept<T, Property>::value;

/// The type of `query(t, p)`, as a member `type` if it is well-formed; likewise the other three.
template <class T, class Property>
struct query_result {};
template <class T, class Property>
  requires(can_query_v<T, Property>)
struct query_result<T, Property> {
  using type = decltype(query(std::declval<T>(), std::declval<Property>()));
};
template <class T, class... Properties>
struct require_result {};
template <class T, class... Properties>
  requires(can_require_v<T, Properties...>)
struct require_result<T, Properties...> {
  using type = decltype(require(std::declval<T>(), std::declval<Properties>()...));
};
template <class T, class... Properties>
struct prefer_result {};
template <class T, class... Properties>
  requires(can_prefer_v<T, Properties...>)
struct prefer_result<T, Properties...> {
  using type = decltype(prefer(std::declval<T>(), std::declval<Properties>()...));
};
template <class T, class Property>
struct require_concept_result {};
template <class T, class Property>
  requires(can_require_concept_v<T, Property>)
struct require_concept_result<T, Property> {
  using type = decltype(require_concept(std::declval<T>(), std::declval<Property>()));
};
template <class T, class Property>
using query_result_t = typename query_result<T, Property>::type;
template <class T, class... Properties>
using require_result_t = typename require_result<T, Properties...>::type;
template <class T, class... Properties>
using prefer_result_t = typename prefer_result<T, Properties...>::type;
template <class T, class Property>
using require_concept_result_t = typename require_concept_result<T, Property>::type;

/// Whether `query(t, p)` is well-formed and never throws; likewise below for the other three.
template <class T, class Property>
    struct is_nothrow_query : std::bool_constant < requires {
  { query(std::declval<T>(), std::declval<Property>()) } noexcept;
}>{};
template <class T, class... Properties>
    struct is_nothrow_require : std::bool_constant < requires {
  { require(std::declval<T>(), std::declval<Properties>()...) } noexcept;
}>{};
template <class T, class... Properties>
    struct is_nothrow_prefer : std::bool_constant < requires {
  { prefer(std::declval<T>(), std::declval<Properties>()...) } noexcept;
}>{};
template <class T, class Property>
    struct is_nothrow_require_concept : std::bool_constant < requires {
  { require_concept(std::declval<T>(), std::declval<Property>()) } noexcept;
}>{};
template <class T, class Property>
inline constexpr bool is_nothrow_query_v = is_nothrow_query<T, Property>::value;
template <class T, class... Properties>
inline constexpr bool is_nothrow_require_v = is_nothrow_require<T, Properties...>::value;
template <class T, class... Properties>
inline constexpr bool is_nothrow_prefer_v = is_nothrow_prefer<T, Properties...>::value;
template <class T, class Property>
inline constexpr bool is_nothrow_require_concept_v = is_nothrow_require_concept<T, Property>::value;

}  // namespace WEFT_NAMESPACE
