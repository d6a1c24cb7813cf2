// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/base/operation.hpp>

#include "context/scheduler/atomics.hpp"

namespace WEFT_NAMESPACE::detail {

/// A first-in-first-out queue of operations that can be cut without being walked: a row of segments
/// of at most `limit` operations. One is longer only if memory for the list of segments is short,
/// or by what was pushed to its front. It owns the operations: those left at its end are destroyed.
///
/// Operations are taken from the front segment and pushed to the back one; the others are the rest.
///
/// Not thread-safe, but for `size` and `empty`. All is O(1), amortised, but where it says
/// otherwise.
class segmented_queue {
  struct segment {
    operation* first;
    operation** end;  // the link of its last operation, which is null
    std::size_t size;
  };
  // Not of scheduler_atomics: no protocol depends on what others see of it.
  template <class T>
  using atomic = std::atomic<T>;

 public:
  static constexpr std::size_t limit = scheduler_atomics::segment_limit;

  segmented_queue() = default;
  segmented_queue(const segmented_queue&) = delete;
  segmented_queue& operator=(const segmented_queue&) = delete;
  ~segmented_queue() {
    while (operation* op = pop())
      op->destroy();
  }

  /// Others than its user may ask, and get a hint.
  bool empty() const noexcept { return size() == 0; }

  /// How many it holds at most: those of the front segment count until the last of them is taken.
  /// Others than its user may ask, and get a hint.
  std::size_t size() const noexcept {
    return (get(front_) ? get(front_size_) : 0) + get(rest_size_) + back_size();
  }

  std::size_t segments() const noexcept {
    return (get(front_) ? 1u : 0u) + (rest_.size() - rest_begin_) + (back_ ? 1u : 0u);
  }

  /// How many were ever pushed; those appended do not count. Others than its user may ask.
  std::uint64_t pushed() const noexcept { return get(pushed_); }

  /// Pushes unless the back segment is full.
  bool try_push(operation* op) noexcept {
    const std::uint64_t n = get(pushed_);
    if (n == get(full_at_)) [[unlikely]]
      return false;
    set(pushed_, n + 1);
    operation_queue::next(op) = nullptr;
    *end_ = op;
    end_ = &operation_queue::next(op);
    return true;
  }
  void push(operation* op) noexcept {
    if (!try_push(op)) {
      close_back();
      try_push(op);
    }
  }

  /// Pushes before all others.
  void push_front(operation* op) noexcept {
    set(pushed_, get(pushed_) + 1);
    set(full_at_, get(full_at_) + 1);
    operation* const second = get(front_);
    operation_queue::next(op) = second;
    if (second) {
      set(front_, op);
      set(front_size_, get(front_size_) + 1);
    } else {
      begin_front(segment{op, &operation_queue::next(op), 1});
    }
  }

  /// The first operation, if it is at hand: in the front segment, or in the back one if that is all
  /// there is; else null.
  operation* pop_front() noexcept {
    operation* op = get(front_);
    if (!op) {
      if (!back_ || rest_begin_ != rest_.size())
        return nullptr;
      op = back_;
      if (!operation_queue::next(op)) {
        forget_back();
        return op;
      }
      begin_front(take_back());
    }
    set(front_, operation_queue::next(op));
    return op;
  }
  /// The first operation, or null if there is none.
  operation* pop() noexcept {
    if (!get(front_) && rest_begin_ != rest_.size())
      begin_front(take_next());
    return pop_front();
  }

  /// Appends `size` operations, linked from `first` to `last`. O(size / limit), after a walk if
  /// there are more than `limit`.
  void append(operation* first, operation* last, std::size_t size) noexcept {
    if (size != 0)
      append(segment{first, &operation_queue::next(last), size});
  }
  /// Returns their number. O(n).
  std::size_t append(operation_queue& ops) noexcept {
    segment all{ops.front(), nullptr, 0};
    while (operation* const op = ops.pop()) {
      all.end = &operation_queue::next(op);
      ++all.size;
    }
    if (all.size != 0)
      append(all);
    return all.size;
  }
  /// Appends all of `other`, which is O(1) if this queue is empty, and else O(segments).
  void append(segmented_queue& other) noexcept {
    if (empty())
      swap(other);
    while (!other.empty())
      take_segment(other);
  }
  /// Puts all of `other` before what is here. O(segments).
  void prepend(segmented_queue& other) noexcept {
    other.append(*this);
    swap(other);
  }

  /// Appends the first segment of `other`, or what is left of it. O(1) unless it has been begun.
  void take_segment(segmented_queue& other) noexcept {
    if (get(other.front_))
      append(other.take_front());
    else if (other.rest_begin_ != other.rest_.size())
      append(other.take_next());
    else if (other.back_)
      append(other.take_back());
  }

  /// Appends all of `other`; returns how many that were. O(segments), and O(limit).
  std::size_t take_all(segmented_queue& other) noexcept {
    const std::size_t n = other.count_front() + get(other.rest_size_) + other.back_size();
    append(other);
    return n;
  }

  /// Appends the first `n` segments of `other`, or all that it has. O(n).
  void take_segments(segmented_queue& other, std::size_t n) noexcept {
    if (n != 0 && get(other.front_)) {
      append(other.take_front());
      --n;
    }
    n -= take_range(other, std::min(n, other.rest_.size() - other.rest_begin_));
    for (; n != 0 && !other.empty(); --n)
      take_segment(other);
  }

  /// Appends the rest of `other`: all but its front and back segments. Returns how many operations
  /// that were. O(1) if this queue is empty, else O(segments).
  std::size_t take_rest(segmented_queue& other) noexcept {
    const std::size_t n = get(other.rest_size_);
    if (empty()) {
      swap_rest(other);
    } else {
      close_back();
      while (other.rest_begin_ != other.rest_.size())
        add(other.take_next());
    }
    return n;
  }

  /// Appends about half of `other`, which has no rest, at least one operation if it has any: the
  /// back segment, else half of the front one, which is O(limit). Returns how many.
  std::size_t take_half(segmented_queue& other) noexcept {
    segment half{};
    if (get(other.front_) && other.back_) {
      half = other.take_back();
    } else {
      if (!get(other.front_) && other.back_)
        other.begin_front(other.take_back());
      if (const std::size_t n = (other.count_front() + 1) / 2; n != 0)
        half = other.take_front(n);
    }
    if (half.size != 0)
      append(half);
    return half.size;
  }

  void swap(segmented_queue& other) noexcept {
    swap(front_, other.front_);
    swap(front_size_, other.front_size_);
    std::swap(front_end_, other.front_end_);
    swap_rest(other);
    const std::size_t size = back_size();
    resize_back(other.back_size());
    other.resize_back(size);
    std::swap(back_, other.back_);
    std::swap(end_, other.end_);
    if (!back_)
      end_ = &back_;
    if (!other.back_)
      other.end_ = &other.back_;
  }

 private:
  template <class T>
  static T get(const atomic<T>& variable) noexcept {
    return variable.load(std::memory_order_relaxed);
  }
  template <class T>
  static void set(atomic<T>& variable, std::type_identity_t<T> value) noexcept {
    variable.store(value, std::memory_order_relaxed);
  }
  template <class T>
  static void swap(atomic<T>& a, atomic<T>& b) noexcept {
    const T value = get(a);
    set(a, get(b));
    set(b, value);
  }

  void swap_rest(segmented_queue& other) noexcept {
    swap(rest_size_, other.rest_size_);
    std::swap(rest_, other.rest_);
    std::swap(rest_begin_, other.rest_begin_);
  }

  std::size_t back_size() const noexcept {
    return limit - static_cast<std::size_t>(get(full_at_) - get(pushed_));
  }
  void resize_back(std::size_t size) noexcept { set(full_at_, get(pushed_) + limit - size); }

  void append(segment s) noexcept {
    if (back_size() + s.size > limit)
      close_back();
    while (s.size > limit)
      add(cut(s));
    *end_ = s.first;
    end_ = s.end;
    resize_back(back_size() + s.size);
  }

  /// Cuts the first `limit` operations off a longer chain.
  static segment cut(segment& s) noexcept {
    segment first{s.first, nullptr, limit};
    for (std::size_t i = 0; i != limit; ++i) {
      first.end = &operation_queue::next(s.first);
      s.first = *first.end;
    }
    *first.end = nullptr;
    s.size -= limit;
    return first;
  }

  void begin_front(segment s) noexcept {
    set(front_, s.first);
    front_end_ = s.end;
    set(front_size_, s.size);
  }

  segment take_front() noexcept {
    const segment taken{get(front_), front_end_, count_front()};
    set(front_, nullptr);
    return taken;
  }

  /// The first `n` of the front segment, which has more or as many.
  segment take_front(std::size_t n) noexcept {
    segment taken{get(front_), nullptr, n};
    operation* rest = taken.first;
    for (; n != 0; --n) {
      taken.end = &operation_queue::next(rest);
      rest = *taken.end;
    }
    *taken.end = nullptr;
    set(front_, rest);
    return taken;
  }

  /// The first of the rest.
  segment take_next() noexcept {
    const segment next = rest_[rest_begin_];
    drop_rest(1, next.size);
    return next;
  }

  /// Forgets the first `n` of the rest, of `size` operations. The places of those taken are given
  /// up when they are the most.
  void drop_rest(std::size_t n, std::size_t size) noexcept {
    set(rest_size_, get(rest_size_) - size);
    rest_begin_ += n;
    if (rest_begin_ * 2 >= rest_.size()) {
      rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(rest_begin_));
      rest_begin_ = 0;
    }
  }

  /// Appends the first `n` of the rest of `other`; returns `n`, or 0 if there is no memory.
  std::size_t take_range(segmented_queue& other, std::size_t n) noexcept {
    if (n == 0)
      return 0;
    close_back();
    const auto from = other.rest_.begin() + static_cast<std::ptrdiff_t>(other.rest_begin_);
    const auto to = from + static_cast<std::ptrdiff_t>(n);
    try {
      rest_.insert(rest_.end(), from, to);
    } catch (...) {
      return 0;
    }
    const std::size_t size = std::accumulate(
        from, to, std::size_t{0}, [](std::size_t sum, const segment& s) { return sum + s.size; });
    set(rest_size_, get(rest_size_) + size);
    other.drop_rest(n, size);
    return n;
  }

  segment take_back() noexcept {
    const segment taken{back_, end_, back_size()};
    forget_back();
    return taken;
  }
  void forget_back() noexcept {
    back_ = nullptr;
    end_ = &back_;
    resize_back(0);
  }

  void close_back() noexcept {
    if (back_)
      add(take_back());
  }

  /// Adds to the rest; the back segment is empty. If there is no memory for another, to the last of
  /// these, or to the front one.
  void add(segment s) noexcept {
    try {
      rest_.push_back(s);
      set(rest_size_, get(rest_size_) + s.size);
    } catch (...) {
      if (rest_begin_ != rest_.size()) {
        segment& last = rest_.back();
        *last.end = s.first;
        last.end = s.end;
        last.size += s.size;
        set(rest_size_, get(rest_size_) + s.size);
      } else if (get(front_)) {
        *front_end_ = s.first;
        front_end_ = s.end;
        set(front_size_, get(front_size_) + s.size);
      } else {
        begin_front(s);
      }
    }
  }

  std::size_t count_front() const noexcept {
    std::size_t n = 0;
    for (operation* op = get(front_); op; op = operation_queue::next(op))
      ++n;
    return n;
  }

  atomic<operation*> front_{nullptr};  // to be taken next
  operation* back_ = nullptr;
  operation** end_ = &back_;  // where the next operation is linked to
  atomic<std::uint64_t> pushed_{0};
  atomic<std::uint64_t> full_at_{limit};  // what pushed_ will be when the back segment is full
  atomic<std::size_t> front_size_{0};     // of the front segment when it was begun
  operation** front_end_ = nullptr;
  atomic<std::size_t> rest_size_{0};  // operations in the rest
  std::vector<segment> rest_;         // from rest_begin_ on
  std::size_t rest_begin_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
