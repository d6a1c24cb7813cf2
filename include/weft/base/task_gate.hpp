// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <weft/base/asymmetric_barrier.hpp>
#include <weft/base/atomics.hpp>

namespace WEFT_NAMESPACE::detail {

struct task_atomics : std_atomics {
  static void light_barrier() noexcept { detail::light_barrier(); }
  static bool heavy_barrier() noexcept { return try_heavy_barrier(); }
  /// Returns when it is no longer `old`, or for no reason. Orders nothing.
  static void wait(const std::atomic<std::uint32_t>& a, std::uint32_t old) noexcept {
    a.wait(old, std::memory_order_relaxed);
  }
  static void notify_all(std::atomic<std::uint32_t>& a) noexcept { a.notify_all(); }
};

// Tasks (logical threads, fibers) and a reader who copies what they tell of themselves while they
// go on. The price is the reader's: a task pays plain stores and loads.
//
// Protocol:
//   1. A task that begins has a slot, whose memory is never freed: slot.record = task (release).
//   2. One that waits has written down where, in memory that only it writes; then, before others
//      may resume it: waits_for = what (release).
//   3. One that goes on, or is destroyed while it waits: waits_for = null; it passes the gate.
//   4. One that ends: slot.record = null; it passes the gate; then the slot may have another task.
//   5. To pass the gate: light barrier; if the round (acquire) is odd, a reader reads: wait until
//      it is another (acquire).
//   6. The reader, one at a time: round = odd (release, for who waits for the end of the round
//      before); heavy barrier; reads; round = even (release). It reads slot.record (acquire): if
//      that is not null, the task is there until the round ends, and so is what it has written
//      before it began. It reads waits_for (acquire): if that is not null, the task waits until the
//      round ends, and what it has written before may be read.
//
// By the barrier pair, either the reader sees the null of rule 3 or 4, or the task sees the round,
// and waits for its end. Rounds are short: a reader reads a few tasks in each. One who sees the end
// of a round late, and another begun, need not wait: that one has seen its null.
//
// Without barriers the round has the value `by_mutex` for good, from before the first task: who
// passes the gate then passes the reader's mutex.

/// See above. One for all tasks.
template <class Atomics>
class basic_task_gate {
 public:
  void pass() noexcept {
    Atomics::light_barrier();
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (round % 2 != 0) [[unlikely]]
      wait_for_end(round);
  }

  /// Calls `copy`, which reads. False, without a call, if the kernel refuses the barrier. Not from
  /// inside `copy`. Throws what that does.
  template <class F>
  bool read(F copy) {
    const std::lock_guard guard(mutex_);
    const std::uint32_t now = round_.load(std::memory_order_relaxed);
    if (now != by_mutex) {
      const reopening at_end{*this, now + 2};
      round_.store(now + 1, std::memory_order_release);
      if (!Atomics::heavy_barrier())
        return false;
      copy();
    } else {
      copy();
    }
    return true;
  }

  /// For a kernel without barriers, before the first task begins.
  void close_for_good() noexcept { round_.store(by_mutex, std::memory_order_relaxed); }

  /// Keeps readers out, across a fork.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  static constexpr std::uint32_t by_mutex = 0xffff'ffff;

  struct reopening {
    basic_task_gate& gate;
    std::uint32_t round;
    ~reopening() {
      gate.round_.store(round, std::memory_order_release);
      Atomics::notify_all(gate.round_);
    }
  };

  [[gnu::noinline, gnu::cold]] void wait_for_end(std::uint32_t round) noexcept {
    if (round == by_mutex) {
      const std::lock_guard guard(mutex_);
      return;
    }
    while (round_.load(std::memory_order_acquire) == round)
      Atomics::wait(round_, round);
  }

  typename Atomics::mutex mutex_;
  typename Atomics::template atomic<std::uint32_t> round_{0};  // written by the reader
};

template <class Atomics>
class basic_task_record;

template <class Atomics>
struct basic_task_slot {
  typename Atomics::template atomic<basic_task_record<Atomics>*> record{nullptr};

  /// For the reader.
  const basic_task_record<Atomics>* read() const noexcept {
    return record.load(std::memory_order_acquire);
  }
};

/// The part of a task that its reader sees. The task's own, but for waits_for().
template <class Atomics>
class basic_task_record {
 public:
  using gate = basic_task_gate<Atomics>;
  using slot = basic_task_slot<Atomics>;

  basic_task_record() = default;
  basic_task_record(const basic_task_record&) = delete;
  basic_task_record& operator=(const basic_task_record&) = delete;

  void begins(slot& s) noexcept { s.record.store(this, std::memory_order_release); }
  void waits(const char* what) noexcept { waits_for_.store(what, std::memory_order_release); }
  void goes_on(gate& g) noexcept {
    waits_for_.store(nullptr, std::memory_order_relaxed);
    g.pass();
  }
  void ends(slot& s, gate& g) noexcept {
    s.record.store(nullptr, std::memory_order_relaxed);
    g.pass();
  }

  /// For the reader: null, or what it waits for, until the round ends.
  const char* waits_for() const noexcept { return waits_for_.load(std::memory_order_acquire); }

 private:
  typename Atomics::template atomic<const char*> waits_for_{nullptr};
};

}  // namespace WEFT_NAMESPACE::detail
