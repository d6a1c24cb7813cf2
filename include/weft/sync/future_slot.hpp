// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/base/atomics.hpp>

namespace WEFT_NAMESPACE::detail {

/// What waits for the result of a future: told once, by the thread that has made it ready, or by
/// nobody.
class future_waiter {
 public:
  using function = void (*)(future_waiter*) noexcept;

  future_waiter(const future_waiter&) = delete;
  future_waiter& operator=(const future_waiter&) = delete;

  void ready() noexcept { ready_(this); }

 protected:
  explicit future_waiter(function tell) noexcept : ready_(tell) {}
  ~future_waiter() = default;

 private:
  friend class future_crowd;

  const function ready_;
  // In the list of a future_crowd.
  future_waiter* next_ = nullptr;
  future_waiter** link_ = nullptr;  // what points here; null: it is in no list
};

/// Where the result of a future is handed over, from the thread that makes it to the one that waits
/// for it: one word, without a lock.
///
///   0        nothing yet
///   address  nothing yet, and this waiter is to be told
///   1        the result is there, for good
///   2        nothing yet, and nobody is left to wait for it
///
///   1. The producer writes the result, then exchanges the word for 1 (release). If it finds a
///      waiter there (acquire), that is its own: it tells it, and touches it no more.
///   2. Who wants to wait puts its waiter there (compare-exchange from 0; release, for the producer
///      reads it). If it finds 1 (acquire), the result may be read at once.
///   3. Who gives up takes its waiter away (compare-exchange to 0; acquire, for another thread may
///      have put it there). If it is not there any more, the producer has it, and the result is
///      there (acquire): who knows that nobody else will read it may end it.
///   4. Who is the last of those that could wait, and leaves, says so (compare-exchange from 0;
///      release, for all that they have done). If it finds 1 (acquire), it ends the future itself;
///      otherwise the producer, which finds 2 (acquire), does.
/// So one of those who would tell a waiter and those who take it away has it, never both.
template <class Atomics = std_atomics>
class basic_future_slot {
 public:
  enum class arrival : unsigned char { waits, is_ready, is_taken };

  /// Whether the result may be read.
  bool is_ready() const noexcept { return word_.load(std::memory_order_acquire) == ready; }

  /// By the producer, once. Calls `tell(waiter)` if there is one, or `end()` if nobody is left.
  template <class Tell, class End>
  void fulfil(Tell tell, End end) noexcept {
    const std::uintptr_t found = word_.exchange(ready, std::memory_order_acq_rel);
    if (found == abandoned) [[unlikely]]
      end();
    else if (found != nothing)
      tell(*reinterpret_cast<future_waiter*>(found));
  }

  /// Whether the producer is to end the future. If not, the result is there.
  bool abandon() noexcept {
    std::uintptr_t found = nothing;
    return word_.compare_exchange_strong(found, abandoned, std::memory_order_release,
                                         std::memory_order_acquire);
  }

  /// `is_taken`: another waits already, and this one does not.
  arrival attach(future_waiter& waiter) noexcept {
    std::uintptr_t found = nothing;
    if (word_.compare_exchange_strong(found, reinterpret_cast<std::uintptr_t>(&waiter),
                                      std::memory_order_release, std::memory_order_acquire))
      return arrival::waits;
    return found == ready ? arrival::is_ready : arrival::is_taken;
  }

  /// Whether the waiter was there, and will not be told.
  bool detach(future_waiter& waiter) noexcept {
    auto found = reinterpret_cast<std::uintptr_t>(&waiter);
    return word_.compare_exchange_strong(found, nothing, std::memory_order_acquire,
                                         std::memory_order_acquire);
  }

 private:
  static constexpr std::uintptr_t nothing = 0;
  static constexpr std::uintptr_t ready = 1;
  static constexpr std::uintptr_t abandoned = 2;

  typename Atomics::template atomic<std::uintptr_t> word_{nothing};
};

}  // namespace WEFT_NAMESPACE::detail
