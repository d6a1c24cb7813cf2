// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "harness/run.hpp"

namespace bench {

/// Raises the limit of open descriptors as far as it goes. Ends the program as one that
/// cannot run here if that is less than `count`.
inline void need_descriptors(std::uint64_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < count) {
    std::fprintf(stderr, "%llu descriptors are needed, and the hard limit is %llu (ulimit -Hn)\n",
                 static_cast<unsigned long long>(count),
                 static_cast<unsigned long long>(limit.rlim_max));
    std::exit(absent);
  }
}

}  // namespace bench
