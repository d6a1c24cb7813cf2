// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstdint>

#include <weft/base/atomics.hpp>
#include <weft/base/sharing_policy.hpp>

namespace WEFT_NAMESPACE::detail {

/// Who owns the value of a resume_event, and which coroutine waits for it. One word, in which the
/// lowest bit says that the value's memory is taken:
///   empty     Nobody waits, no value is there.
///   full      A value is there, or about to be for the coroutine that the resumer goes on with.
///   putting   A resumer is writing the value, to be kept.
///   h         The coroutine of that address waits.
///   h | 1     It has come to wait while a resumer is writing.
///
///   1. A resumer claims the value's memory by empty -> putting or h -> full; any other is refused
///      until the coroutine has taken the value: full -> empty.
///   2. A coroutine waits by empty -> h, or by putting -> h | 1, or finds the value.
///   3. The resumer that has written a value to be kept ends by putting -> full, or by h | 1 ->
///   full
///      and then resumes the coroutine.
template <class Atomics = std_atomics>
class concurrent_resume_state {
 public:
  static constexpr std::uintptr_t empty = 0, full = 1, putting = 3;

  /// Whether a value is there. Acquires what its resumer wrote (`end_put`).
  bool has_value() const noexcept { return state_.load(std::memory_order_acquire) == full; }
  /// Whether a coroutine waits. No other thread may be at work.
  bool is_awaited() const noexcept {
    const std::uintptr_t seen = state_.load(std::memory_order_relaxed);
    return seen != empty && seen != full;
  }

  /// The coroutine `h` waits. False if a value has come: `has_value`. Releases its frame to the
  /// resumer (`begin_put`, `end_put`).
  bool wait(void* h) noexcept {
    std::uintptr_t seen = empty;
    do {
      assert((seen == empty || seen == putting) &&
             "a second coroutine waits for a resume_event: give it one of its own");
      if (state_.compare_exchange_weak(seen, address(h) | (seen & 1), std::memory_order_release,
                                       std::memory_order_acquire))
        return true;
    } while (seen != full);
    return false;
  }

  /// The coroutine does not wait any more. No resumer may be at work.
  void withdraw(void* h) noexcept {
    std::uintptr_t seen = address(h);
    state_.compare_exchange_strong(seen, empty, std::memory_order_relaxed);
  }

  /// Claims the memory of the value. What it was: full if that is refused, empty if the value is to
  /// be kept (`end_put`), else the coroutine to resume. Acquires its frame (`wait`), or the end of
  /// the last value (`take`).
  std::uintptr_t begin_put() noexcept {
    std::uintptr_t seen = state_.load(std::memory_order_relaxed);
    do {
      if (seen & 1)
        return full;
    } while (!state_.compare_exchange_weak(seen, seen == empty ? putting : full,
                                           std::memory_order_acquire, std::memory_order_relaxed));
    return seen;
  }
  /// The value is written, to be kept. The coroutine that has come to wait meanwhile, or empty.
  std::uintptr_t end_put() noexcept {
    const std::uintptr_t seen = state_.exchange(full, std::memory_order_acq_rel);
    return seen == putting ? empty : seen & ~std::uintptr_t{1};
  }

  /// The value has been taken, and its memory is free (`begin_put`).
  void take() noexcept { state_.store(empty, std::memory_order_release); }

 private:
  static std::uintptr_t address(void* h) noexcept { return reinterpret_cast<std::uintptr_t>(h); }

  typename Atomics::template atomic<std::uintptr_t> state_{empty};
};

/// The same for one thread.
class local_resume_state {
  using shared = concurrent_resume_state<>;

 public:
  bool has_value() const noexcept { return state_ == shared::full; }
  bool is_awaited() const noexcept { return state_ != shared::empty && state_ != shared::full; }
  bool wait(void* h) noexcept {
    user_.lock();
    if (state_ == shared::full)
      return false;
    assert(state_ == shared::empty &&
           "a second coroutine waits for a resume_event: give it one of its own");
    state_ = reinterpret_cast<std::uintptr_t>(h);
    return true;
  }
  void withdraw(void* h) noexcept {
    if (state_ == reinterpret_cast<std::uintptr_t>(h))
      state_ = shared::empty;
  }
  std::uintptr_t begin_put() noexcept {
    user_.lock();
    const std::uintptr_t seen = state_;
    state_ = shared::full;
    return seen;
  }
  std::uintptr_t end_put() noexcept { return shared::empty; }
  void take() noexcept { state_ = shared::empty; }

 private:
  std::uintptr_t state_ = shared::empty;
  [[no_unique_address]] sharing::local::mutex user_;
};

template <class Sharing>
struct resume_state_of {
  using type = local_resume_state;
};
template <>
struct resume_state_of<sharing::concurrent> {
  using type = concurrent_resume_state<>;
};

}  // namespace WEFT_NAMESPACE::detail
