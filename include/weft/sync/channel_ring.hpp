// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include <weft/base/asymmetric_barrier.hpp>
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
///
/// A thread that keeps coming to both ends, and meets no other, becomes the *owner*. For it the
/// ring is open while it is shut for all others, and it needs no compare-exchange:
///   5. `owner_` changes under the channel's lock. Who shuts the ring stores null, and who lets in
///      stores the owner again, unless another thread has shut it: then nobody is the owner from
///      then on, nor will be. So `busy_` has one writer.
///   6. The owner: busy_ = true; light barrier; if it is the owner still, it is in. It leaves with
///      busy_ = false (release). Another thread that shuts the ring: owner_ = null; heavy barrier;
///      waits for busy_ == false (acquire). By the barrier pair either the owner sees that it is
///      not, or the other one waits for it.
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
  static constexpr unsigned no_more = ~0u;  // of times_: there is an owner, or will be none

 public:
  /// One of no capacity is always shut. Throws std::bad_alloc.
  explicit channel_ring(std::size_t capacity)
      : capacity_(checked(capacity)),
        slots_(capacity ? std::allocator<slot>().allocate(capacity) : nullptr),
        tail_(capacity ? 0 : mark),
        head_(capacity ? 0 : mark) {
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

  /// `refused`: it was full, or empty, at a moment, and open. `unclear`: it is shut, or another
  /// thread is between making the next slot its own and finishing.
  enum class attempt : unsigned char { done, refused, unclear };

  /// Takes `value`, or leaves it alone. Calls `suggest_owner()` if this thread should become the
  /// owner.
  template <class Suggest>
  [[gnu::always_inline]] attempt try_push(T& value, Suggest suggest_owner) noexcept {
    word tail = tail_.load(std::memory_order_relaxed);
    while (!(tail & mark)) {
      slot& s = slots_[index(tail)];
      const word stamp = s.look();
      if (stamp == tail) [[likely]] {
        if (index(tail) == 0 && keeps_coming()) [[unlikely]] {
          suggest_owner();
          tail = tail_.load(std::memory_order_relaxed);
        } else if (tail_.compare_exchange_weak(tail, after(tail), std::memory_order_relaxed)) {
          s.fill(value, tail);
          return attempt::done;
        }
      } else if (is_before(stamp, tail)) {
        return full_at(tail) ? attempt::refused : attempt::unclear;
      } else {
        tail = tail_.load(std::memory_order_relaxed);
      }
    }
    if (!enter())
      return attempt::unclear;
    tail = tail_.load(std::memory_order_relaxed) & ~mark;
    slot& s = slots_[index(tail)];
    auto outcome = attempt::done;
    if (s.look() == tail) [[likely]] {
      s.fill(value, tail);
      tail_.store(after(tail) | mark, std::memory_order_relaxed);
    } else {
      outcome = full_at(tail) ? attempt::refused : attempt::unclear;
    }
    exit();
    return outcome;
  }

  /// Calls `take(T&&)` with the value that leaves, if one does; `suggest_owner` as above.
  template <class Take, class Suggest>
  [[gnu::always_inline]] attempt try_pop(Take take, Suggest suggest_owner) noexcept {
    word head = head_.load(std::memory_order_relaxed);
    while (!(head & mark)) {
      slot& s = slots_[index(head)];
      const word stamp = s.look();
      if (stamp == (head | mark)) [[likely]] {
        if (index(head) == 0 && keeps_coming()) [[unlikely]] {
          suggest_owner();
          head = head_.load(std::memory_order_relaxed);
        } else if (head_.compare_exchange_weak(head, after(head), std::memory_order_relaxed)) {
          s.empty(take, head);
          return attempt::done;
        }
      } else if (is_before(stamp, head | mark)) {
        return empty_at(head) ? attempt::refused : attempt::unclear;
      } else {
        head = head_.load(std::memory_order_relaxed);
      }
    }
    if (!enter())
      return attempt::unclear;
    head = head_.load(std::memory_order_relaxed) & ~mark;
    slot& s = slots_[index(head)];
    auto outcome = attempt::done;
    if (s.look() == (head | mark)) [[likely]] {
      s.empty(take, head);
      head_.store(after(head) | mark, std::memory_order_relaxed);
    } else {
      outcome = empty_at(head) ? attempt::refused : attempt::unclear;
    }
    exit();
    return outcome;
  }

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
    } else if (designated_) {
      owner_.store(nullptr, std::memory_order_relaxed);
      if (designated_ != Atomics::this_thread()) [[unlikely]]
        disown();
    }
  }
  /// From now on all do, or its owner.
  void let_in() noexcept {
    if (!slots_ || !is_shut())
      return;
    if (designated_) {
      owner_.store(designated_, std::memory_order_relaxed);
      return;
    }
    tail_.store(tail_.load(std::memory_order_relaxed) & ~mark, std::memory_order_relaxed);
    head_.store(head_.load(std::memory_order_relaxed) & ~mark, std::memory_order_relaxed);
  }

  // ---- while it is shut

  /// The caller's thread becomes the owner, if there has not been one.
  void designate() noexcept {
    times_.store(no_more, std::memory_order_relaxed);
    if (std::exchange(may_have_owner_, false) && Atomics::barriers_available())
      designated_ = Atomics::this_thread();
  }

  bool full() const noexcept { return size() == capacity_; }

  /// Requires that it is not full.
  void push(T& value) noexcept {
    const word tail = tail_.load(std::memory_order_relaxed) & ~mark;
    slot& s = slots_[index(tail)];
    wait_for(s, tail);
    s.fill(value, tail);
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
  static std::uint32_t checked(std::size_t capacity) noexcept {
    assert(capacity <= 0xffffffff && "a channel holds fewer than 2^32 values, unless unbounded");
    return static_cast<std::uint32_t>(capacity);
  }

  struct slot {
    explicit slot(word w) noexcept : stamp(w) {}
    T* value() noexcept { return std::launder(reinterpret_cast<T*>(memory)); }

    word look() const noexcept { return stamp.load(std::memory_order_acquire); }
    void fill(T& from, word tail) noexcept {
      std::construct_at(value(), std::move(from));
      stamp.store(tail | mark, std::memory_order_release);
    }
    template <class Take>
    void empty(Take& take, word head) noexcept {
      take(std::move(*value()));
      std::destroy_at(value());
      stamp.store(head + lap, std::memory_order_release);
    }

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
    for (unsigned looks = 0; s.look() != stamp; ++looks)
      Atomics::wait_a_little(looks);
  }

  bool is_shut() const noexcept { return tail_.load(std::memory_order_relaxed) & mark; }

  // Positions only grow. So if the other one is found where it is as late as it may be, they were
  // so at that moment.
  bool full_at(word tail) const noexcept {
    return (head_.load(std::memory_order_relaxed) & ~mark) + lap == tail;
  }
  bool empty_at(word head) const noexcept {
    return (tail_.load(std::memory_order_relaxed) & ~mark) == head;
  }

  /// Called once in a lap at either end, before the slot is made one's own: whoever gets at what is
  /// in it may end the ring. Whether it is time that this thread becomes the owner: a guess.
  [[gnu::noinline]] bool keeps_coming() noexcept {
    if (times_.load(std::memory_order_relaxed) == no_more)
      return false;
    const void* const self = Atomics::this_thread();
    const bool again = latest_.load(std::memory_order_relaxed) == self;
    const unsigned times = again ? times_.load(std::memory_order_relaxed) + 1 : 0;
    latest_.store(self, std::memory_order_relaxed);
    times_.store(times, std::memory_order_relaxed);
    return times == Atomics::patience;
  }

  bool enter() noexcept {
    const void* const self = Atomics::this_thread();
    if (owner_.load(std::memory_order_relaxed) != self)
      return false;
    busy_.store(true, std::memory_order_relaxed);
    Atomics::light_barrier();
    if (owner_.load(std::memory_order_relaxed) == self) [[likely]]
      return true;
    exit();
    return false;
  }
  void exit() noexcept { busy_.store(false, std::memory_order_release); }

  [[gnu::noinline]] void disown() noexcept {
    designated_ = nullptr;
    Atomics::heavy_barrier();
    for (unsigned looks = 0; busy_.load(std::memory_order_acquire); ++looks)
      Atomics::wait_a_little(looks);
  }

  const std::uint32_t capacity_;
  slot* const slots_;
  // Under the channel's lock.
  bool may_have_owner_ = true;
  const void* designated_ = nullptr;  // the owner while the ring is let in
  atomic<const void*> owner_{nullptr};
  alignas(cache_line) atomic<const void*> latest_{nullptr};
  atomic<unsigned> times_{0};
  alignas(cache_line) atomic<word> tail_;
  atomic<bool> busy_{false};
  alignas(cache_line) atomic<word> head_;
};

/// What it takes from the standard library, and from this one.
struct channel_atomics : std_atomics {
  /// How often in a row one thread ends a lap, of values in or out, before it becomes the owner.
  static constexpr unsigned patience = 16;

  /// Between two looks at what another thread is about to finish: `looks` were in vain.
  WEFT_API static void wait_a_little(unsigned looks) noexcept;

  /// Names the calling thread among those that live. Looked up each time: a fiber may have come
  /// from another thread, which the compiler does not know.
  static const void* this_thread() noexcept {
    const void* self;
#if defined(__x86_64__)
    asm volatile("mov %%fs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
    asm volatile("mrs %0, tpidr_el0" : "=r"(self));
#else
#error "name the thread on this architecture"
#endif
    return self;
  }

  WEFT_API static bool barriers_available() noexcept;
  static void light_barrier() noexcept { detail::light_barrier(); }
  WEFT_API static void heavy_barrier() noexcept;
};

}  // namespace WEFT_NAMESPACE::detail
