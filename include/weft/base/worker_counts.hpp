// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// What a worker (a thread in `run()`) has done since it entered, or all workers of a context have.
struct worker_counts {
  std::uint64_t run = 0;           ///< Operations run; a strand's turn, of whatever length, is one.
  std::uint64_t queued = 0;        ///< Operations queued by its own handlers.
  std::uint64_t from_outside = 0;  ///< Operations taken from what other threads have posted.
  std::uint64_t events = 0;        ///< Operations that polls have brought: I/O and timers.
  std::uint64_t steal_attempts = 0;  ///< Searches of other workers' queues.
  std::uint64_t steals = 0;          ///< Queues from which something was taken.
  std::uint64_t stolen = 0;          ///< Operations taken from them.
  std::uint64_t polls = 0;           ///< Looks for events, with or without sleeping.
  std::uint64_t parks = 0;           ///< Sleeps without looking for events.
  std::uint64_t wakeups = 0;         ///< Times that another thread ended its sleep, or its poll's.

  worker_counts& operator+=(const worker_counts& other) noexcept {
    run += other.run;
    queued += other.queued;
    from_outside += other.from_outside;
    events += other.events;
    steal_attempts += other.steal_attempts;
    steals += other.steals;
    stolen += other.stolen;
    polls += other.polls;
    parks += other.parks;
    wakeups += other.wakeups;
    return *this;
  }
  worker_counts& operator-=(const worker_counts& other) noexcept {
    run -= other.run;
    queued -= other.queued;
    from_outside -= other.from_outside;
    events -= other.events;
    steal_attempts -= other.steal_attempts;
    steals -= other.steals;
    stolen -= other.stolen;
    polls -= other.polls;
    parks -= other.parks;
    wakeups -= other.wakeups;
    return *this;
  }
  friend worker_counts operator+(worker_counts a, const worker_counts& b) noexcept {
    return a += b;
  }
  friend worker_counts operator-(worker_counts a, const worker_counts& b) noexcept {
    return a -= b;
  }
  friend bool operator==(const worker_counts&, const worker_counts&) = default;
};

}  // namespace WEFT_NAMESPACE::detail
