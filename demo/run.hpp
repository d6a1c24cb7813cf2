// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/context/backend_kind.hpp>

namespace demo {

struct run_options {
  unsigned connections = 64;
  std::chrono::milliseconds time{2000};  // for each backend and protocol
  std::vector<weft::backend_kind> backends;
};

/// Serves and drives echo on each backend and protocol, with progress on standard error, and prints
/// the table on standard output. The number of errors seen.
std::uint64_t run(const run_options& options);

/// Serves TCP, UDP and UNIX-domain echo until SIGINT or SIGTERM. `port` 0: any free one.
void serve(unsigned short port, weft::backend_kind backend);

/// A path for a UNIX-domain socket that no other process uses; nothing is there yet.
std::string socket_path();

}  // namespace demo
