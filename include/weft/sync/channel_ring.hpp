// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <weft/base/atomics.hpp>
#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// What a bounded channel holds that several threads use: a ring into which anyone pushes, and from
/// which anyone pops, at the cost of one compare-exchange. The algorithm is Dmitry Vyukov's bounded
/// queue for many producers and consumers (1024cores.net). Beyond it, the ring can be shut, by who
/// holds the channel's lock: then nobody but the holder gets at it, and so those who wait can be
/// kept in queues beside it without a wake-up being lost.
///
/// A *position* is a lap (31 bits), an index (32 bits), and a bit that is 0. `tail_` is the
/// position of the next push, `head_` that of the next pop; there the bit says *shut*. Each slot
/// has a stamp: the position that it is free for, or, with the bit set, the one it is filled for.
///   1. Who pushes at position p finds the stamp p, and advances `tail_` from p by a
///      compare-exchange, which makes the slot his; then he constructs the value and stores the
///      stamp p|1. Who pops finds p|1, advances `head_`, takes the value, and stores p + one lap.
///   2. To shut is to set the bit in both. A compare-exchange that expects it unset fails after
///      that, however old what it expects is: so when the holder has set the bits, both positions
///      stand still but for himself.
///   3. There may be slots then that others have made theirs and not finished. Before the holder
///      uses a slot he waits for its stamp: that is not for long, unless a thread is preempted
///      between two instructions of 1.
///   4. The bits are read together with what they protect, in one word, so nothing else orders
///      them. All values pass by the stamps: a releasing store pairs with the acquiring load that
///      reads it.
template <class T, class Atomics>
class channel_ring {
  using word = std::uint64_t;
  template <class U>
  using atomic = typename Atomics::template atomic<U>;

  static constexpr word mark = 1;
  static constexpr word step = 2;
  static constexpr word lap = word(1) << 33;
  static constexpr word most_laps = (word(1) << 31) - 1;
  static constexpr std::size_t cache_line = 64;

 public:
  /// One of no capacity is always shut. Throws std::bad_alloc.
  explicit channel_ring(std::size_t capacity)
      : capacity_(static_cast<std::uint32_t>(capacity)),
        slots_(capacity ? std::allocator<slot>().allocate(capacity) : nullptr),
        tail_(capacity ? 0 : mark),
        head_(capacity ? 0 : mark) {
    assert(capacity <= 0xffffffff);
    for (std::uint32_t i = 0; i != capacity_; ++i)
      std::construct_at(slots_ + i, i * step);
  }
  channel_ring(const channel_ring&) = delete;
  channel_ring& operator=(const channel_ring&) = delete;
  /// By the last user.
  ~channel_ring() {
    if (!slots_)
      return;
    shut();
    while (T* const value = front()) {
      std::destroy_at(value);
      drop();
    }
    for (std::uint32_t i = 0; i != capacity_; ++i)
      std::destroy_at(slots_ + i);
    std::allocator<slot>().deallocate(slots_, capacity_);
  }

  /// Takes `value`. If not, and it is left alone, the ring is full or shut, or a value is just
  /// being taken from the slot that comes next.
  bool try_push(T& value) noexcept {
    word tail = tail_.load(std::memory_order_relaxed);
    while (!(tail & mark)) {
      slot& s = slots_[index(tail)];
      const word stamp = s.stamp.load(std::memory_order_acquire);
      if (stamp == tail) [[likely]] {
        if (tail_.compare_exchange_weak(tail, after(tail), std::memory_order_relaxed)) {
          std::construct_at(s.value(), std::move(value));
          s.stamp.store(tail | mark, std::memory_order_release);
          return true;
        }
      } else if (is_before(stamp, tail)) {
        return false;
      } else {
        tail = tail_.load(std::memory_order_relaxed);
      }
    }
    return false;
  }

  /// Calls `take(T&&)` with the value that leaves. If not, the ring is empty or shut, or the value
  /// that comes next is just being put in.
  template <class Take>
  bool try_pop(Take take) noexcept {
    word head = head_.load(std::memory_order_relaxed);
    while (!(head & mark)) {
      slot& s = slots_[index(head)];
      const word stamp = s.stamp.load(std::memory_order_acquire);
      if (stamp == (head | mark)) [[likely]] {
        if (head_.compare_exchange_weak(head, after(head), std::memory_order_relaxed)) {
          take(std::move(*s.value()));
          std::destroy_at(s.value());
          s.stamp.store(head + lap, std::memory_order_release);
          return true;
        }
      } else if (is_before(stamp, head | mark)) {
        return false;
      } else {
        head = head_.load(std::memory_order_relaxed);
      }
    }
    return false;
  }

  bool is_shut() const noexcept { return tail_.load(std::memory_order_relaxed) & mark; }

  /// How many values there are, or were a moment ago.
  std::size_t size() const noexcept {
    const word head = head_.load(std::memory_order_relaxed) & ~mark;
    const word tail = tail_.load(std::memory_order_relaxed) & ~mark;
    const auto laps = static_cast<std::size_t>((tail / lap - head / lap) & most_laps);
    const std::size_t size = laps * capacity_ + index(tail) - index(head);
    return size <= capacity_ ? size : 0;
  }

  // ---- for who holds the channel's lock

  /// From now on only the holder gets at the ring.
  void shut() noexcept {
    if (!is_shut()) {
      tail_.fetch_or(mark, std::memory_order_relaxed);
      head_.fetch_or(mark, std::memory_order_relaxed);
    }
  }
  /// From now on all do.
  void let_in() noexcept {
    if (slots_ && is_shut()) {
      tail_.store(tail_.load(std::memory_order_relaxed) & ~mark, std::memory_order_relaxed);
      head_.store(head_.load(std::memory_order_relaxed) & ~mark, std::memory_order_relaxed);
    }
  }

  // ---- while it is shut

  bool full() const noexcept { return size() == capacity_; }

  /// Requires that it is not full.
  void push(T& value) noexcept {
    const word tail = tail_.load(std::memory_order_relaxed) & ~mark;
    slot& s = slots_[index(tail)];
    wait_for(s, tail);
    std::construct_at(s.value(), std::move(value));
    s.stamp.store(tail | mark, std::memory_order_release);
    tail_.store(after(tail) | mark, std::memory_order_relaxed);
  }

  /// The value that is to leave next, or null if there is none.
  T* front() noexcept {
    const word head = head_.load(std::memory_order_relaxed) & ~mark;
    if (head == (tail_.load(std::memory_order_relaxed) & ~mark))
      return nullptr;
    slot& s = slots_[index(head)];
    wait_for(s, head | mark);
    return s.value();
  }
  /// That value has been destroyed.
  void drop() noexcept {
    const word head = head_.load(std::memory_order_relaxed) & ~mark;
    slots_[index(head)].stamp.store(head + lap, std::memory_order_release);
    head_.store(after(head) | mark, std::memory_order_relaxed);
  }

 private:
  struct slot {
    explicit slot(word w) noexcept : stamp(w) {}
    T* value() noexcept { return std::launder(reinterpret_cast<T*>(memory)); }

    atomic<word> stamp;
    alignas(T) std::byte memory[sizeof(T)];
  };

  static std::uint32_t index(word position) noexcept {
    return static_cast<std::uint32_t>(position / step);
  }
  static bool is_before(word a, word b) noexcept { return static_cast<std::int64_t>(a - b) < 0; }

  word after(word position) const noexcept {
    const std::uint32_t last = index(position);
    return last + 1 != capacity_ ? position + step : position - last * step + lap;
  }

  static void wait_for(const slot& s, word stamp) noexcept {
    for (unsigned looks = 0; s.stamp.load(std::memory_order_acquire) != stamp; ++looks)
      Atomics::wait_a_little(looks);
  }

  const std::uint32_t capacity_;
  slot* const slots_;
  alignas(cache_line) atomic<word> tail_;
  alignas(cache_line) atomic<word> head_;
};

/// What it takes from the standard library.
struct channel_atomics : std_atomics {
  /// Between two looks at what another thread is about to finish: `looks` were in vain.
  WEFT_API static void wait_a_little(unsigned looks) noexcept;
};

}  // namespace WEFT_NAMESPACE::detail
