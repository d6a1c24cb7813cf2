// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/associator.hpp>
#include <weft/async/cancellation_signal.hpp>

namespace WEFT_NAMESPACE {

template <class T, class CancellationSlot = cancellation_slot>
struct associated_cancellation_slot;

namespace detail {

template <class T, class Slot>
struct cancellation_slot_association {
  using is_unassociated = void;
  using type = Slot;
  static type get(const T&) noexcept { return type(); }
  static const type& get(const T&, const Slot& s) noexcept { return s; }
};

template <class T, class Slot>
  requires requires { typename T::cancellation_slot_type; }
struct cancellation_slot_association<T, Slot> {
  using type = typename T::cancellation_slot_type;
  static decltype(auto) get(const T& t) noexcept { return t.get_cancellation_slot(); }
  static decltype(auto) get(const T& t, const Slot&) noexcept { return t.get_cancellation_slot(); }
};

template <class T, class Slot>
  requires(!requires { typename T::cancellation_slot_type; }) &&
          requires { typename associator<associated_cancellation_slot, T, Slot>::type; }
struct cancellation_slot_association<T, Slot> : associator<associated_cancellation_slot, T, Slot> {
};

}  // namespace detail

/// The slot through which the operation that `T`, its handler, waits for can be cancelled. By
/// default a slot that is connected to no signal.
///
/// Customise it by a member type `cancellation_slot_type` with `get_cancellation_slot() const
/// noexcept`, by specialising `associator`, or by specialising this template (`type`, `get(t)`,
/// `get(t, s)`).
template <class T, class CancellationSlot>
struct associated_cancellation_slot : detail::cancellation_slot_association<T, CancellationSlot> {};

template <class T, class CancellationSlot = cancellation_slot>
using associated_cancellation_slot_t =
    typename associated_cancellation_slot<T, CancellationSlot>::type;

template <class T>
associated_cancellation_slot_t<T> get_associated_cancellation_slot(const T& t) noexcept {
  return associated_cancellation_slot<T>::get(t);
}

template <class T, class CancellationSlot>
auto get_associated_cancellation_slot(const T& t, const CancellationSlot& s) noexcept
    -> decltype(associated_cancellation_slot<T, CancellationSlot>::get(t, s)) {
  return associated_cancellation_slot<T, CancellationSlot>::get(t, s);
}

}  // namespace WEFT_NAMESPACE
