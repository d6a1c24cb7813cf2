// SPDX-License-Identifier: BSL-1.0
#include <weft/base/asymmetric_barrier.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/found_once.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

long membarrier(int command) noexcept {
  return ::syscall(__NR_membarrier, command, 0, 0);
}

}  // namespace

bool try_heavy_barrier() noexcept {
  return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

void heavy_barrier() noexcept {
  if (try_heavy_barrier())
    return;
  std::fputs(
      "weft: membarrier(2) is refused since a policy was installed; install it before the first "
      "context is made\n",
      stderr);
  std::abort();
}

bool asymmetric_barrier_available() noexcept {
  constinit static found_once available;
  return available.get([] { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0; });
}

}  // namespace WEFT_NAMESPACE::detail
