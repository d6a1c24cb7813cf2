// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// About how far the calling thread's stack reaches; it grows towards smaller numbers. It costs one
/// instruction, and keeps no compiler from making the jump of a call that follows.
inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t pointer;
#if defined(__x86_64__)
  asm("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
  asm("mov %0, sp" : "=r"(pointer));
#else
  pointer = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
  return pointer;
}

}  // namespace WEFT_NAMESPACE::detail
