// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/base/log_buckets.hpp>
#include <weft/base/operation_origin.hpp>

namespace WEFT_NAMESPACE::detail {

/// A histogram that any thread may add to and read. What is read while others add may be a little
/// of both.
class shared_histogram {
 public:
  void add(std::int64_t nanoseconds) noexcept;

  std::uint64_t bucket(std::size_t i) const noexcept {
    return buckets_[i].load(std::memory_order_relaxed);
  }
  std::uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
  std::uint64_t max() const noexcept { return max_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, log_buckets::count> buckets_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> max_{0};
};

/// What a scheduler does besides with the operations it queues and runs, while somebody asks for
/// it: it measures a sample of them, and has the origin of each noted and found.
///
/// **Sample.** Each thread chooses one in 64 on the average, at random distances (from 1 to 127),
/// so that no rhythm of the program's hides from it. For the delay in the queue, the operation and
/// the time are noted in one of a few places, given by its address, before it is queued; whoever
/// runs it looks there. A place that is taken (an earlier one still waits) means that this one is
/// not measured: while more wait than there are places, long delays are seen less often than they
/// occur.
class observation {
 public:
  /// Begins or ends to measure.
  void measure(bool on) noexcept;
  bool measures() const noexcept { return measures_.load(std::memory_order_relaxed); }

  /// The operation is about to be queued.
  void queued(const operation* op) noexcept;

  /// Runs the operation, after its origin has been stored. Throws what the operation throws.
  void run(operation* op, std::atomic<const void*>& origin);

  const shared_histogram& queue_delay() const noexcept { return queue_delay_; }
  const shared_histogram& run_time() const noexcept { return run_time_; }

 private:
  /// Written by whoever notes a sample: since_, then op_ (release); emptied by who runs it.
  struct place {
    std::atomic<const void*> op{nullptr};
    std::atomic<std::int64_t> since{0};
  };
  place& place_of(const operation* op) noexcept;
  void end_delay(const operation* op) noexcept;

  std::atomic<bool> measures_{false};
  std::array<place, 16> places_;
  shared_histogram queue_delay_;
  shared_histogram run_time_;
};

}  // namespace WEFT_NAMESPACE::detail
