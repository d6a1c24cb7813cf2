// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "context/scheduler/atomics.hpp"

namespace WEFT_NAMESPACE::detail {

/// A mutex that becomes biased to a thread which keeps taking it: that thread, the owner, then
/// takes it and gives it back at the price of plain loads and stores.
///
/// Protocol:
///   1. Without an owner it is mutex_.
///   2. The first thread to hold mutex_ that has taken it `patience_` times in a row becomes the
///      owner. No other ever does: only so is busy_ written by one thread.
///   3. The owner: busy_ = true; light barrier; if it still is the owner, it is in. It leaves with
///      busy_ = false (release). If it is not, busy_ = false, and it goes by mutex_.
///   4. Another thread takes mutex_, and if there is an owner: owner_ = nobody; heavy barrier;
///   waits
///      for busy_ == false (acquire); then it is in. patience_ is doubled, since that is dear.
/// By the barrier pair either the owner sees that it no longer is, or the other sees busy_. Who
/// becomes the owner again holds mutex_ then, so it has seen all that was done before.
///
/// Cost: an uncontended mutex for who is not the owner; a system call and an interrupt to the
/// owner's processor for each revocation, of which the doubling leaves few. Who revokes waits
/// actively while the owner is in: keep what is done there short.
template <class Atomics>
class basic_timer_lock {
 public:
  static constexpr unsigned initial_patience = 256;
  static constexpr unsigned longest_patience = 1u << 24;

  explicit basic_timer_lock(bool may_bias, unsigned patience = initial_patience) noexcept
      : may_bias_(may_bias), patience_(patience) {}

  void lock() noexcept {
    if (!enter()) [[unlikely]]
      lock_mutex();
  }

  void unlock() noexcept {
    if (by_bias_) [[likely]]
      exit();
    else
      mutex_.unlock();
  }

  /// Takes the lock if the thread is the owner. Returns whether it has.
  bool enter() noexcept {
    const std::uint64_t self = Atomics::known_thread_number();
    if (owner_.load(std::memory_order_relaxed) != self) [[unlikely]]
      return false;
    busy_.store(true, std::memory_order_relaxed);
    Atomics::light_barrier();
    if (owner_.load(std::memory_order_relaxed) != self) [[unlikely]] {
      busy_.store(false, std::memory_order_release);
      return false;
    }
    by_bias_ = true;
    return true;
  }

  /// Gives back what enter() has taken.
  void exit() noexcept { busy_.store(false, std::memory_order_release); }

  /// Takes the lock if enter() has not.
  [[gnu::noinline]] void lock_mutex() noexcept {
    const std::uint64_t self = Atomics::thread_number();
    mutex_.lock();
    if (owner_.load(std::memory_order_relaxed) != nobody) {
      owner_.store(nobody, std::memory_order_relaxed);
      Atomics::heavy_barrier();
      while (busy_.load(std::memory_order_acquire))
        Atomics::yield();
      patience_ = std::min(2 * patience_, longest_patience);
    }
    by_bias_ = false;
    if (latest_ != self) {
      latest_ = self;
      in_a_row_ = 0;
    }
    if (++in_a_row_ >= patience_ && may_bias_ && (candidate_ == nobody || candidate_ == self)) {
      candidate_ = self;
      owner_.store(self, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint64_t nobody = 0;

  typename Atomics::template atomic<std::uint64_t> owner_{nobody};  // written with mutex_ held
  typename Atomics::template atomic<bool> busy_{false};             // written by the owner
  bool by_bias_ = false;  // how the one who is in has come; written and read by that one
  const bool may_bias_;
  // Guarded by mutex_.
  typename Atomics::mutex mutex_;
  unsigned patience_;
  unsigned in_a_row_ = 0;
  std::uint64_t latest_ = nobody;
  std::uint64_t candidate_ = nobody;  // the only one to be the owner, once there was one
};

/// The seam's part of the lock. A thread's number is never another's, not even after its end, and
/// never 0, which is nobody's.
struct timer_lock_atomics : scheduler_atomics {
  /// The thread's number, or one that is no thread's.
  static std::uint64_t known_thread_number() noexcept { return number_; }
  static std::uint64_t thread_number() noexcept {
    if (number_ == unknown)
      number_ = next_number_.fetch_add(1, std::memory_order_relaxed);
    return number_;
  }

 private:
  static constexpr std::uint64_t unknown = 1;
  static inline constinit thread_local std::uint64_t number_ = unknown;
  static inline std::atomic<std::uint64_t> next_number_{unknown + 1};
};

class timer_lock : public basic_timer_lock<timer_lock_atomics> {
 public:
  using basic_timer_lock::basic_timer_lock;
};

}  // namespace WEFT_NAMESPACE::detail
