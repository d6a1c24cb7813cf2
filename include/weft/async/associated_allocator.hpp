// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

#include <weft/async/associator.hpp>

namespace WEFT_NAMESPACE {

template <class T, class Allocator = std::allocator<void>>
struct associated_allocator;

namespace detail {

template <class T, class Allocator>
struct allocator_association {
  using is_unassociated = void;
  using type = Allocator;
  static type get(const T&) noexcept { return type(); }
  static const type& get(const T&, const Allocator& a) noexcept { return a; }
};

template <class T, class Allocator>
  requires requires { typename T::allocator_type; }
struct allocator_association<T, Allocator> {
  using type = typename T::allocator_type;
  static decltype(auto) get(const T& t) noexcept { return t.get_allocator(); }
  static decltype(auto) get(const T& t, const Allocator&) noexcept { return t.get_allocator(); }
};

template <class T, class Allocator>
  requires(!requires { typename T::allocator_type; }) &&
          requires { typename associator<associated_allocator, T, Allocator>::type; }
struct allocator_association<T, Allocator> : associator<associated_allocator, T, Allocator> {};

}  // namespace detail

/// The allocator that an operation takes its memory from while `T`, its handler, waits for it. The
/// memory is given back before the handler is called.
///
/// Customise it by a member type `allocator_type` with `get_allocator() const noexcept`, by
/// specialising `associator`, or by specialising this template (`type`, `get(t)`, `get(t, a)`).
/// Where nothing is associated, `Allocator`; its default, std::allocator, stands for memory that
/// is recycled per thread.
template <class T, class Allocator>
struct associated_allocator : detail::allocator_association<T, Allocator> {};

template <class T, class Allocator = std::allocator<void>>
using associated_allocator_t = typename associated_allocator<T, Allocator>::type;

template <class T>
associated_allocator_t<T> get_associated_allocator(const T& t) noexcept {
  return associated_allocator<T>::get(t);
}

template <class T, class Allocator>
auto get_associated_allocator(const T& t, const Allocator& a) noexcept
    -> decltype(associated_allocator<T, Allocator>::get(t, a)) {
  return associated_allocator<T, Allocator>::get(t, a);
}

}  // namespace WEFT_NAMESPACE
