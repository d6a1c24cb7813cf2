// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "harness/child.hpp"

namespace bench {

/// Bytes of this process's anonymous memory (the heap, stacks, and what is mapped beside them) that
/// are in memory: RssAnon in /proc/self/status.
inline std::uint64_t resident_memory() {
  constexpr std::string_view wanted = "RssAnon:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(wanted))
      return std::stoull(line.substr(wanted.size())) * 1024;
  die("/proc/self/status");
}

}  // namespace bench
