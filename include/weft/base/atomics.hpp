// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <mutex>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// The atomics seam: what lock-free parts, as templates over it, take from the standard library.
/// A model checker puts its own there (tests/model/).
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  using mutex = std::mutex;
};

}  // namespace WEFT_NAMESPACE::detail
