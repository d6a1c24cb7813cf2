// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// A static object that threads, signals and other static objects may use until the process is no
/// more: its destructor is not called.
template <class T>
union never_destroyed {
  constexpr never_destroyed() noexcept : object() {}
  never_destroyed(const never_destroyed&) = delete;
  never_destroyed& operator=(const never_destroyed&) = delete;
  ~never_destroyed() {}

  T object;
};

}  // namespace WEFT_NAMESPACE::detail
