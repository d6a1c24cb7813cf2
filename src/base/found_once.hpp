// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether something is so, found out when first asked and kept; not so, if finding it out throws.
/// Threads that ask at once each find it out: none waits for another, as it would at a static
/// variable of a function, and which a child of a fork would not have.
class found_once {
 public:
  template <class F>
  bool get(F find) noexcept {
    answer known = known_.load(std::memory_order_acquire);
    if (known == answer::unknown) [[unlikely]] {
      try {
        known = find() ? answer::yes : answer::no;
      } catch (...) {
        known = answer::no;
      }
      known_.store(known, std::memory_order_release);
    }
    return known == answer::yes;
  }

 private:
  enum class answer : unsigned char { unknown, no, yes };

  std::atomic<answer> known_{answer::unknown};
};

}  // namespace WEFT_NAMESPACE::detail
