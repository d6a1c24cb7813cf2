// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Of the system.
WEFT_API std::size_t page_size() noexcept;

/// Address space for stacks, readable and writable; null if there is none.
std::byte* map_stacks(std::size_t bytes) noexcept;
void unmap_stacks(std::byte* memory, std::size_t bytes) noexcept;

/// Gives the memory back to the system; what is read there then is zero. Guards stay.
void discard_stack(std::byte* memory, std::size_t bytes) noexcept;

/// Makes pages guards: an access to one is a fault. By advice to the kernel, where it takes that
/// (Linux 6.13); otherwise by protection, which splits the mapping, and takes two of those that the
/// process may have: so many at most. Thread-safe.
class WEFT_API stack_guards {
 public:
  /// By advice first; by protection up to a quarter of the mappings that the process may have.
  constexpr stack_guards() noexcept = default;
  /// `most_protected`: of guards by protection. `by_advice`: try that first.
  explicit stack_guards(long most_protected, bool by_advice = true) noexcept
      : by_advice_(by_advice), left_(most_protected) {}

  /// False if the page cannot be one, or one more would be too many.
  bool install(std::byte* page) noexcept;
  /// So many pages with guards have been unmapped.
  void uninstalled(std::size_t count) noexcept;

 private:
  static constexpr long unread = std::numeric_limits<long>::min();

  std::atomic<bool> by_advice_{true};
  std::atomic<long> advised_{0};
  std::atomic<long> left_{unread};  // until the first by protection
};

}  // namespace WEFT_NAMESPACE::detail
