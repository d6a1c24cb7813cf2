// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::observe {

/// One call in a stack.
struct stack_frame {
  std::uintptr_t address = 0;  ///< Where it goes on; in the innermost, where it is.
  std::string function;        ///< Demangled; empty if the program does not tell (it is stripped).
  std::uintptr_t into = 0;     ///< Bytes from the beginning of the function.
  std::string module;          ///< The file of the program or library.
  std::uintptr_t offset = 0;   ///< Of the address in the module, as addr2line(1) takes it.
};

/// The innermost call first.
using call_stack = std::vector<stack_frame>;

/// A line for each frame: its function, and `(module+offset)`, from which `addr2line -e module
/// offset` tells the line of the source if there are debugging symbols.
WEFT_API std::string to_string(const call_stack& stack);

}  // namespace WEFT_NAMESPACE::observe
