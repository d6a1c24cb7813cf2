// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <weft/io/timer_core.hpp>

#include "io/timer_heap.hpp"

namespace WEFT_NAMESPACE::detail {

/// The pending waits of one clock in their order: a hierarchical timing wheel that is exact.
///
/// A key is an expiry, shifted to be unsigned, in digits to the base 64. `base_` is a key, about
/// the one of now, that never passes a wait of the wheel. A wait lies on the level of the highest
/// digit in which its key differs from `base_`, in the slot of that digit's value; so all waits on
/// a level are before those on higher ones, and on a level the slots are in order. Slots are lists
/// in the order of start. When the earliest slot is reached, `base_` moves to the first key that
/// may be in it, and its waits to lower levels; on the lowest a slot is a single key. Waits whose
/// expiry has been passed when they start (or nearly so, where the clock is set back) are in a
/// heap.
///
///   1. base_ <= the key of every wait in the wheel; the key of every wait in early_ < base_.
///   2. A slot's list may have become empty with its bit still set; a list whose bit is not set is
///      not initialised. `bound` is no later than any expiry in the slot, and belongs there.
///   3. While moving_ is not empty, lower levels hold keys up to moving_last_ only, and waits with
///      such keys are added to moving_: it keeps those of equal keys in order.
///
/// Cost: `push` and `remove` are O(1), without looking at other waits but neighbours in a list;
/// a wait is moved at most ten times, in fact as often as there are digits to tell it from others.
/// The heap costs O(log n) amortised, n the waits in it. Nothing allocates.
class timer_wheel {
 public:
  explicit timer_wheel(std::int64_t now) noexcept : base_(key_of(now)) { make_empty(moving_); }
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  /// Adds a wait as the last one of its expiry.
  void push(timer_entry* e) noexcept {
    const std::uint64_t key = key_of(e->expiry_);
    if (key < base_) [[unlikely]]
      early_.push(e);
    else if (!is_empty(moving_) && key <= moving_last_) [[unlikely]]
      append(moving_, e);
    else
      place(e, key);
  }

  void remove(timer_entry* e) noexcept {
    if (key_of(e->expiry_) < base_) [[unlikely]]
      early_.remove(e);
    else
      unlink(e);
  }

  /// A time no later than the earliest expiry, nor in general much earlier; `never` if there is no
  /// wait.
  std::int64_t bound() noexcept {
    if (!early_.empty())
      return early_.front()->expiry_;
    if (!is_empty(moving_))
      return expiry_of(base_);
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
        timer_entry* const e = take_front(moving_);
        place(e, key_of(e->expiry_));
      }
      const position first = find_first();
      if (!first.exists) {
        base_ = key_of(now);
        return nullptr;
      }
      slot& s = slot_at(first);
      timer_entry* const e = front(s.list);
      if (e->following_ == &s.list)
        s.bound = e->expiry_;
      if (s.bound > now) {
        base_ = std::max(base_, std::min(key_of(now), least_key(first, s) - 1));
        return nullptr;
      }
      base_ = key_of(s.bound);
      if (s.bound == e->expiry_ && (first.level == 0 || e->following_ == &s.list)) {
        unlink(e);
        return e;
      }
      moving_last_ = least_key(first, s) | low_digits(first.level);
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
  static constexpr unsigned levels = (64 + digit_bits - 1) / digit_bits;

  struct slot {
    timer_link list;
    std::int64_t bound;
  };
  struct position {
    bool exists;
    unsigned level;
    unsigned value;
  };

  static std::uint64_t key_of(std::int64_t expiry) noexcept {
    return static_cast<std::uint64_t>(expiry) ^ std::uint64_t(1) << 63;
  }
  static std::int64_t expiry_of(std::uint64_t key) noexcept {
    return static_cast<std::int64_t>(key ^ std::uint64_t(1) << 63);
  }
  static std::uint64_t low_digits(unsigned level) noexcept {
    return (std::uint64_t(1) << digit_bits * level) - 1;
  }
  /// The least key of a slot.
  static std::uint64_t least_key(position p, const slot& s) noexcept {
    return key_of(s.bound) & ~low_digits(p.level);
  }

  // ---- lists: circular, the list itself is the link before the first and after the last

  static void make_empty(timer_link& list) noexcept { list.previous_ = list.following_ = &list; }
  static bool is_empty(const timer_link& list) noexcept { return list.following_ == &list; }
  static timer_entry* front(timer_link& list) noexcept {
    return static_cast<timer_entry*>(list.following_);
  }
  static void append(timer_link& list, timer_link* e) noexcept {
    e->previous_ = list.previous_;
    e->following_ = &list;
    list.previous_->following_ = e;
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

  void place(timer_entry* e, std::uint64_t key) noexcept {
    const auto level = (static_cast<unsigned>(std::bit_width((key ^ base_) | 1)) - 1) / digit_bits;
    const unsigned value = (key >> digit_bits * level) % values;
    slot& s = slots_[level][value];
    const std::uint64_t bit = std::uint64_t(1) << value;
    if ((occupied_[level] & bit) == 0) {
      occupied_[level] |= bit;
      levels_ |= 1u << level;
      make_empty(s.list);
      s.bound = e->expiry_;
    } else if (e->expiry_ < s.bound || is_empty(s.list)) {
      s.bound = e->expiry_;
    }
    append(s.list, e);
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

  std::uint64_t base_;
  std::uint64_t moving_last_ = 0;
  timer_link moving_;  // of a slot that has been reached
  timer_heap early_;
  unsigned levels_ = 0;                  // those with an occupied slot
  std::uint64_t occupied_[levels] = {};  // their slots
  slot slots_[levels][values];
};

}  // namespace WEFT_NAMESPACE::detail
