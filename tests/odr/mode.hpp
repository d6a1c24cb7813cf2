// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <vector>
#include <weft.hpp>

/// One program, several ways to compile its parts: mode.cpp is compiled once per mode, each time
/// with other options (see CMakeLists.txt), and all of them are linked together.
namespace odr {

struct layout {
  const char* type;
  std::size_t size;
  std::size_t alignment;

  bool operator==(const layout& other) const {
    return size == other.size && alignment == other.alignment;
  }
};

struct mode {
  const char* name;
  /// The public types as this mode sees them.
  std::vector<layout> (*layouts)();
  weft::io_context* (*make_context)();
  /// Starts a post, a strand's post, a timer, and a write and a read over a connected pair; each
  /// adds one to `finished`. Returns how many it started.
  int (*start)(weft::io_context& context, int& finished);
  void (*run)(weft::io_context& context);
  void (*destroy)(weft::io_context* context);
};

extern const mode debug;
extern const mode release;
extern const mode hardened;
extern const mode later_standard;

}  // namespace odr
