// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// A store-load barrier whose two sides cost differently: `light_barrier` is free, `heavy_barrier`
/// is a system call that makes every running thread of the process pass a full barrier. A store
/// before one and a load after it, against the same across the other, cannot both miss each other.
///
/// membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED, Linux 4.14.
inline void light_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
void heavy_barrier() noexcept;

/// The same for who can do without it: false if the kernel refuses, because of a policy that was
/// installed since asymmetric_barrier_available() said yes. heavy_barrier() ends the program then.
bool try_heavy_barrier() noexcept;

/// Whether the kernel offers it; found out once. Without it, nothing may rely on the pair.
bool asymmetric_barrier_available() noexcept;

}  // namespace WEFT_NAMESPACE::detail
