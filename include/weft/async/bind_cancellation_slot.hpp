// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/binder.hpp>

namespace WEFT_NAMESPACE {

/// A function object or token with an associated cancellation slot.
///     timer.async_wait(bind_cancellation_slot(signal.slot(), handler));
/// It is called as its target is. The target may be a token of any kind: the slot is then bound
/// to the handler that is made of it. Made by `bind_cancellation_slot`.
template <class T, class CancellationSlot>
class cancellation_slot_binder
    : public detail::binder<detail::plain_binder_kind, T, CancellationSlot> {
  using base = detail::binder<detail::plain_binder_kind, T, CancellationSlot>;

 public:
  using cancellation_slot_type = CancellationSlot;

  using base::base;

  cancellation_slot_type get_cancellation_slot() const noexcept { return this->value(); }
};

/// `bind_cancellation_slot` without a target: adapts a token, or, used as a token, the default one.
template <class CancellationSlot>
struct partial_cancellation_slot_binder
    : detail::partial_binder<cancellation_slot_binder, CancellationSlot> {
  using detail::partial_binder<cancellation_slot_binder, CancellationSlot>::partial_binder;
};

template <class CancellationSlot>
[[nodiscard]] partial_cancellation_slot_binder<CancellationSlot> bind_cancellation_slot(
    const CancellationSlot& value) {
  return partial_cancellation_slot_binder<CancellationSlot>(value);
}

template <class CancellationSlot, class T>
[[nodiscard]] cancellation_slot_binder<std::decay_t<T>, CancellationSlot> bind_cancellation_slot(
    const CancellationSlot& value, T&& target) {
  return cancellation_slot_binder<std::decay_t<T>, CancellationSlot>(value,
                                                                     std::forward<T>(target));
}

template <class T, class CancellationSlot, class... Signatures>
class async_result<cancellation_slot_binder<T, CancellationSlot>, Signatures...>
    : public detail::binder_result<cancellation_slot_binder, CancellationSlot, Signatures...> {};

}  // namespace WEFT_NAMESPACE
