// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "context/scheduler/atomics.hpp"

namespace WEFT_NAMESPACE::detail {

/// A lock that one thread, its owner, takes and gives back at the price of plain loads and stores.
/// Another has to revoke it, which is dear, and restores it afterwards. Those others exclude each
/// other by a mutex; the owner holds that mutex whenever `enter` has failed.
///
/// Protocol:
///   1. The owner: busy_ = true; light barrier; unless revoked_, it is in. It leaves with busy_ =
///      false (release).
///   2. The other, holding the mutex: revoked_ = true; heavy barrier; waits for busy_ == false
///      (acquire); then it is in. It leaves with revoked_ = false (release, which the owner's next
///      look acquires).
/// By the barrier pair either the owner sees revoked_ or the other sees busy_. The owner stays in
/// for a few instructions only, so the wait is short, unless the owner is preempted there.
///
/// A lock without bias is for a kernel that has no such barriers: it is revoked for good.
template <class Atomics = scheduler_atomics>
class basic_biased_lock {
 public:
  explicit basic_biased_lock(bool biased) noexcept : biased_(biased), revoked_(!biased) {}

  bool enter() noexcept {
    busy_.store(true, std::memory_order_relaxed);
    Atomics::light_barrier();
    if (!revoked_.load(std::memory_order_acquire)) [[likely]]
      return true;
    exit();
    return false;
  }
  void exit() noexcept { busy_.store(false, std::memory_order_release); }

  void revoke() noexcept {
    if (!biased_)
      return;
    revoked_.store(true, std::memory_order_relaxed);
    Atomics::heavy_barrier();
    while (busy_.load(std::memory_order_acquire))
      Atomics::yield();
  }
  void restore() noexcept {
    if (biased_)
      revoked_.store(false, std::memory_order_release);
  }

 private:
  const bool biased_;
  typename Atomics::template atomic<bool> busy_{false};
  typename Atomics::template atomic<bool> revoked_;
};

using biased_lock = basic_biased_lock<>;

}  // namespace WEFT_NAMESPACE::detail
