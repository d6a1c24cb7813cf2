// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/strong_ptr.hpp>

namespace WEFT_NAMESPACE::detail {

/// A value of which several receivers get a copy each. Taking hold of it for one of them does not
/// throw, so it can be done under a lock; making the copy may.
template <class T>
class shared_value {
  static constexpr bool is_in_place = std::is_nothrow_copy_constructible_v<T> &&
                                      std::is_nothrow_copy_assignable_v<T> && sizeof(T) <= 64;
  using stored = std::conditional_t<is_in_place, T, strong_ptr<const T>>;

 public:
  /// Throws what moving the value, or the allocation, throws.
  explicit shared_value(T&& value) : stored_(store(std::move(value))) {}

  const T& get() const noexcept {
    if constexpr (is_in_place)
      return stored_;
    else
      return *stored_;
  }

 private:
  static stored store(T&& value) {
    if constexpr (is_in_place)
      return std::move(value);
    else
      return make_strong<const T>(std::move(value));
  }

  stored stored_;
};

}  // namespace WEFT_NAMESPACE::detail
