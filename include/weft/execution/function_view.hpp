// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// A function that stays where it is, for those who call it, once, before its owner goes on.
struct function_view {
  void* function;
  void (*call)(void*);

  template <class F>
  static function_view of(F& f) noexcept {
    return {&f, [](void* p) { std::move (*static_cast<F*>(p))(); }};
  }
  void operator()() const { call(function); }
};

}  // namespace WEFT_NAMESPACE::detail
