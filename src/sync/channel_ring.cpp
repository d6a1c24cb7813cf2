// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/channel_ring.hpp>

#include <thread>

namespace WEFT_NAMESPACE::detail {

void channel_atomics::wait_a_little(unsigned looks) noexcept {
  // A thread that runs needs a few nanoseconds; one that does not needs this one's processor.
  constexpr unsigned most_spins = 64;
  if (looks >= most_spins)
    std::this_thread::yield();
}

bool channel_atomics::barriers_available() noexcept {
  return asymmetric_barrier_available();
}
void channel_atomics::heavy_barrier() noexcept {
  detail::heavy_barrier();
}

}  // namespace WEFT_NAMESPACE::detail
