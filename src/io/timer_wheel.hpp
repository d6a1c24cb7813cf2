// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>

#include <weft/io/timer_core.hpp>

#include "io/timer_heap.hpp"

namespace WEFT_NAMESPACE::detail {

/// The pending waits of one clock in their order: a hierarchical timing wheel that is exact.
///
/// `base_` is a time, about now, that never passes a wait of the wheel, nor is before the clock's
/// epoch. Times are seen in digits to the base 64. A wait lies on the level of the highest digit in
/// which its expiry differs from `base_`, in the slot of that digit's value; so all waits on a
/// level are before those on higher ones, and on a level the slots are in order. Slots are lists in
/// the order of start. When the earliest slot is reached, `base_` moves to the first time that may
/// be in it, and its waits to lower levels; on the lowest a slot is a single time. Waits whose
/// expiry has been passed when they start (or nearly so, where the clock is set back), or is before
/// the epoch, are in a heap.
///
///   1. 0 <= base_ <= the expiry of every wait in the wheel; that of every wait in early_ < base_.
///   2. A slot's list may have become empty with its bit still set; a list whose bit is not set is
///      not initialised. `bound` is no later than any expiry in the slot, and belongs there.
///   3. While moving_ is not empty, lower levels hold waits up to moving_last_ only, and such waits
///      are added to moving_: it keeps those of equal expiry in order. What `remove` has emptied
///      takes none after the next `bound`, so that no later wait makes that earlier.
///
/// Cost: `push` and `remove` are O(1), without looking at other waits but neighbours in a list;
/// a wait is moved at most ten times, in fact as often as there are digits to tell it from others.
/// The heap costs O(log n) amortised, n the waits in it. Nothing allocates.
class timer_wheel {
 public:
  explicit timer_wheel(std::int64_t now) noexcept : base_(since_epoch(now)) { make_empty(moving_); }
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  /// Adds a wait as the last one of its expiry.
  void push(timer_entry* e) noexcept {
    if (e->expiry_ < base_)
      early_.push(e);
    else if (!takes_to_slot(e))
      append(moving_, e);
    else
      push_to_slot(e);
  }

  void remove(timer_entry* e) noexcept {
    if (has_in_slot(e))
      remove_from_slot(e);
    else
      early_.remove(e);
  }

  /// push(), of a wait that it would take to a slot, as most.
  bool takes_to_slot(const timer_entry* e) const noexcept {
    return e->expiry_ >= base_ && e->expiry_ > moving_last_;
  }
  void push_to_slot(timer_entry* e) noexcept {
    const auto differing = static_cast<std::uint64_t>(e->expiry_ ^ base_);
    const unsigned level = level_of(differing);
    const auto value = static_cast<std::uint64_t>(e->expiry_) >> digit_bits * level & (values - 1);
    // Laundered, for the compiler would compute the address of each member by itself.
    slot& s = *std::launder(&slots_[level][value]);
    if ((occupied_[level] >> value & 1) == 0) [[unlikely]] {
      occupied_[level] |= std::uint64_t(1) << value;
      levels_ |= 1u << level;
      make_empty(s.list);
      s.bound = e->expiry_;
    } else if (e->expiry_ < s.bound || is_empty(s.list)) {
      s.bound = e->expiry_;
    }
    append(s.list, e);
  }

  /// remove(), of a wait that is in no heap, as most.
  bool has_in_slot(const timer_entry* e) const noexcept { return e->expiry_ >= base_; }
  void remove_from_slot(timer_entry* e) noexcept { unlink(e); }

  /// A time no later than the earliest expiry, nor in general much earlier; `never` if there is no
  /// wait.
  std::int64_t bound() noexcept {
    if (!early_.empty())
      return early_.front()->expiry_;
    if (!is_empty(moving_))
      return base_;
    moving_last_ = none;
    const position first = find_first();
    return first.exists ? slot_at(first).bound : never;
  }

  /// Takes out the earliest wait, if it is due. Null, with moves left, if none is; with none left,
  /// there may be one: call it again. Each move of a wait within the wheel takes one of `moves`.
  timer_entry* take_due(std::int64_t now, unsigned& moves) noexcept {
    if (!early_.empty()) {
      timer_entry* const e = early_.front();
      if (e->expiry_ > now)
        return nullptr;
      early_.remove(e);
      return e;
    }
    for (;;) {
      while (!is_empty(moving_)) {
        if (moves == 0)
          return nullptr;
        --moves;
        push_to_slot(take_front(moving_));
      }
      moving_last_ = none;
      const position first = find_first();
      if (!first.exists) {
        base_ = since_epoch(now);
        return nullptr;
      }
      slot& s = slot_at(first);
      timer_entry* const e = front(s.list);
      if (e->following_ == &s.list)
        s.bound = e->expiry_;
      if (s.bound > now) {
        base_ = std::max(base_, std::min(now, least_time(first, s) - 1));
        return nullptr;
      }
      base_ = s.bound;
      if (s.bound == e->expiry_ && (first.level == 0 || e->following_ == &s.list)) {
        unlink(e);
        return e;
      }
      moving_last_ = least_time(first, s) | low_digits(first.level);
      move_all(s.list, moving_);
    }
  }

  /// Takes out any wait; null if there is none.
  timer_entry* take_any() noexcept {
    if (!early_.empty()) {
      timer_entry* const e = early_.front();
      early_.remove(e);
      return e;
    }
    if (!is_empty(moving_))
      return take_front(moving_);
    const position first = find_first();
    return first.exists ? take_front(slot_at(first).list) : nullptr;
  }

 private:
  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned values = 1u << digit_bits;
  static constexpr unsigned levels = (63 + digit_bits - 1) / digit_bits;

  struct slot {
    timer_link list;
    std::int64_t bound;
  };
  struct position {
    bool exists;
    unsigned level;
    unsigned value;
  };

  static std::int64_t since_epoch(std::int64_t now) noexcept {
    return std::max<std::int64_t>(now, 0);
  }
  static std::int64_t low_digits(unsigned level) noexcept {
    return (std::int64_t(1) << digit_bits * level) - 1;
  }
  /// The least time of a slot.
  static std::int64_t least_time(position p, const slot& s) noexcept {
    return s.bound & ~low_digits(p.level);
  }

  // ---- lists: circular, the list itself is the link before the first and after the last

  static void make_empty(timer_link& list) noexcept { list.previous_ = list.following_ = &list; }
  static bool is_empty(const timer_link& list) noexcept { return list.following_ == &list; }
  static timer_entry* front(timer_link& list) noexcept {
    return static_cast<timer_entry*>(list.following_);
  }
  static void append(timer_link& list, timer_link* e) noexcept {
    timer_link* const last = list.previous_;
    e->previous_ = last;
    last->following_ = e;
    e->following_ = &list;
    list.previous_ = e;
  }
  static void unlink(timer_link* e) noexcept {
    e->previous_->following_ = e->following_;
    e->following_->previous_ = e->previous_;
  }
  static timer_entry* take_front(timer_link& list) noexcept {
    timer_entry* const e = front(list);
    unlink(e);
    return e;
  }
  /// Moves all of a list that is not empty to one that is.
  static void move_all(timer_link& from, timer_link& to) noexcept {
    to = from;
    to.previous_->following_ = to.following_->previous_ = &to;
    make_empty(from);
  }

  // ---- the wheel

  slot& slot_at(position p) noexcept { return slots_[p.level][p.value]; }

  /// The highest digit that is not 0, or the lowest.
  static unsigned level_of(std::uint64_t differing) noexcept {
    const auto bit = static_cast<unsigned>(std::bit_width(differing | 1)) - 1;
    return bit * 43 >> 8;  // bit / digit_bits, for what has 64 bits
  }

  /// The earliest slot that has waits.
  position find_first() noexcept {
    for (; levels_ != 0; levels_ &= levels_ - 1) {
      const auto level = static_cast<unsigned>(std::countr_zero(levels_));
      for (std::uint64_t& bits = occupied_[level]; bits != 0; bits &= bits - 1) {
        const auto value = static_cast<unsigned>(std::countr_zero(bits));
        if (!is_empty(slots_[level][value].list))
          return {true, level, value};
      }
    }
    return {false, 0, 0};
  }

  static constexpr std::int64_t none = -1;  // is before any time in the wheel

  std::int64_t base_;
  std::int64_t moving_last_ = none;
  timer_link moving_;  // of a slot that has been reached
  timer_heap early_;
  unsigned levels_ = 0;                  // those with an occupied slot
  std::uint64_t occupied_[levels] = {};  // their slots
  slot slots_[levels][values];
};

}  // namespace WEFT_NAMESPACE::detail
