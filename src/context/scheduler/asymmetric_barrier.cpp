// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/asymmetric_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace WEFT_NAMESPACE::detail {
namespace {

long membarrier(int command) noexcept {
  return ::syscall(__NR_membarrier, command, 0, 0);
}

}  // namespace

void heavy_barrier() noexcept {
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool asymmetric_barrier_available() noexcept {
  static const bool available = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return available;
}

}  // namespace WEFT_NAMESPACE::detail
