// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <weft/observe/stack_frame.hpp>

namespace WEFT_NAMESPACE::observe {

/// Names what is at an address: from the symbol tables of the files that the program consists of,
/// which name static functions too, and of a stripped one from what it exports. Reads a file once
/// in its life. Not thread-safe.
class symbols {
 public:
  symbols() = default;
  symbols(const symbols&) = delete;
  symbols& operator=(const symbols&) = delete;
  ~symbols();

  /// A stack, of addresses as backtrace(3) gives them. `is_interrupted`: the first is that of the
  /// next instruction, and not where a call returns to. Throws std::bad_alloc.
  call_stack name(std::span<void* const> addresses, bool is_interrupted);

  /// The same, without the innermost calls, which are of weft's own functions (but for what a
  /// sanitizer puts before them). All, if none or each is known to be weft's.
  call_stack name_callers(std::span<void* const> addresses);
  /// The same, without the outermost calls that are weft's too.
  call_stack name_calls_between(std::span<void* const> addresses);

 private:
  struct symbol {
    std::uintptr_t address;
    std::uintptr_t size;
    const char* name;
  };
  /// A file in memory, and its functions by address.
  struct module {
    void* memory = nullptr;
    std::size_t size = 0;
    std::vector<symbol> functions;
  };

  const module& load(const std::string& path);
  static void read(module& m);
  call_stack name_without_own(std::span<void* const> addresses, bool at_both_ends);
  stack_frame name(std::uintptr_t address, std::uintptr_t inside, bool& is_own);

  std::map<std::string, module> modules_;
};

/// The name of the type in a detail::type_text.
std::string type_name(const char* type_text);

}  // namespace WEFT_NAMESPACE::observe
