// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/binder.hpp>

namespace WEFT_NAMESPACE {

/// A function object or token with an associated allocator: operations take their memory from it.
///     timer.async_wait(bind_allocator(arena, handler));
/// It is called as its target is. The target may be a token of any kind: the allocator is then
/// bound to the handler that is made of it. Made by `bind_allocator`.
template <class T, class Allocator>
class allocator_binder : public detail::binder<detail::plain_binder_kind, T, Allocator> {
  using base = detail::binder<detail::plain_binder_kind, T, Allocator>;

 public:
  using allocator_type = Allocator;

  using base::base;

  allocator_type get_allocator() const noexcept { return this->value(); }
};

/// `bind_allocator` without a target: adapts a token, or, used as a token, the default one.
template <class Allocator>
struct partial_allocator_binder : detail::partial_binder<allocator_binder, Allocator> {
  using detail::partial_binder<allocator_binder, Allocator>::partial_binder;
};

template <class Allocator>
[[nodiscard]] partial_allocator_binder<Allocator> bind_allocator(const Allocator& value) {
  return partial_allocator_binder<Allocator>(value);
}

template <class Allocator, class T>
[[nodiscard]] allocator_binder<std::decay_t<T>, Allocator> bind_allocator(const Allocator& value,
                                                                          T&& target) {
  return allocator_binder<std::decay_t<T>, Allocator>(value, std::forward<T>(target));
}

template <class T, class Allocator, class... Signatures>
class async_result<allocator_binder<T, Allocator>, Signatures...>
    : public detail::binder_result<allocator_binder, Allocator, Signatures...> {};

}  // namespace WEFT_NAMESPACE
