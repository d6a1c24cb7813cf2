// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/async/cancellation_type.hpp>
#include <weft/base/atomics.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/io/timer_clock.hpp>

namespace WEFT_NAMESPACE::detail {

class timer_lock;
class timer_service;
class timer_state;
class wait_operation;

/// What the protocol of timers and waits is a template over.
struct timer_traits {
  using atomics = std_atomics;
  using lock = timer_lock;
  using scheduler = detail::scheduler;
  using wait_operation = detail::wait_operation;

  /// How many waits that are due a poll takes at most.
  static constexpr unsigned batch = 64;
};

template <class Traits>
class basic_timer_core;
template <class Traits>
class basic_timer_queue;
using timer_core = basic_timer_core<timer_traits>;
using timer_queue = basic_timer_queue<timer_traits>;

/// The timers of a context; made, with its I/O driver, on first use.
WEFT_API timer_service& use_timer_service(execution_context& context);

/// A link of the circular list of a timer's waits; the timer itself holds the sentinel. Written
/// with the timers' lock held. `next` is read without it only to learn that the list is empty, and
/// no more is concluded from that: a wait that was started before is seen, since its start happens
/// before; and who ends a timer takes the lock after it has looked.
template <class Atomics>
struct basic_wait_link {
  basic_wait_link() noexcept : prev(this), next(this) {}
  basic_wait_link(const basic_wait_link&) = delete;
  basic_wait_link& operator=(const basic_wait_link&) = delete;

  bool is_empty() const noexcept { return next.load(std::memory_order_relaxed) == this; }

  basic_wait_link* prev;
  typename Atomics::template atomic<basic_wait_link*> next;
};

using wait_link = basic_wait_link<std_atomics>;

/// A link of a list of waits in the order of expiry.
struct timer_link {
  timer_link* previous_;
  timer_link* following_;
};

/// A wait in the order of expiry. The links mean something from its start; the others are the
/// heap's.
struct timer_entry : timer_link {
  explicit timer_entry(std::int64_t expiry) noexcept : expiry_(expiry) {}

  const std::int64_t expiry_;
  timer_entry* child_;
  std::uint64_t sequence_;
};

/// What the timers keep of a wait. States, changed under the timers' lock:
///   fresh -> pending          in the order of its clock and in the list of its timer
///   fresh -> cancelled        before it was started: it is queued when it is
///   pending -> due            expired and queued; in the list of its timer, so that it can be
///                             cancelled
///   pending -> cancelled      queued; in neither: it reports operation_aborted
///   due -> recalled           the same, of one that is queued already
///   due, recalled -> claimed  about to call its handler: nothing reaches it any more
///   fresh, cancelled -> claimed  without the lock: the thread that does it got the wait from who
///                             brought it into that state, and nothing but the claim can follow
/// Waits that are due, recalled or cancelled are the scheduler's, or an executor's; pending ones
/// the timers'. One that is due or recalled keeps the timer_core; a pending one has a timer that
/// does; others need it no more.
template <class Traits>
struct basic_wait_node : basic_wait_link<typename Traits::atomics>, timer_entry {
  enum class state : std::uint8_t { fresh, pending, due, recalled, cancelled, claimed };

  basic_wait_node(basic_timer_queue<Traits>* queue, std::int64_t expiry) noexcept
      : timer_entry(expiry), queue_(queue) {}

  void become_claimed() noexcept {
    state_.store(state::claimed, std::memory_order_relaxed);
    is_claimed_ = true;
  }
  /// Claims the wait if it is cancelled.
  bool claim_cancelled() noexcept {
    if (state_.load(std::memory_order_relaxed) != state::cancelled)
      return false;
    become_claimed();
    return true;
  }

  basic_timer_queue<Traits>* const queue_;
  typename Traits::atomics::template atomic<state> state_{state::fresh};
  // Set with `claimed`. Who ends the wait reads it without the lock: a cancel may change the state
  // of a wait that is not claimed meanwhile, never this.
  bool is_claimed_ = false;
};

/// One asynchronous wait.
class WEFT_API wait_operation : public operation, protected basic_wait_node<timer_traits> {
 public:
  /// The scheduler whose threads complete the wait.
  scheduler& owner() const noexcept { return *scheduler_; }

  /// Claims the wait, as the last step before its handler is called: success, unless a cancel came
  /// before.
  operation_results<error_code> take_results() noexcept {
    if (claim_cancelled() || settle())
      return {error_code(error::operation_aborted)};
    return {error_code()};
  }

  /// Cancels this wait alone. It must not have been claimed. Any thread; O(log n) amortised.
  void cancel() noexcept;

 protected:
  /// Starts the wait as the last of the list `waits`. Returns false, and does nothing, if it was
  /// retracted before.
  bool start(wait_link& waits) noexcept;

  /// Takes the wait back if it is pending: true, and it will never complete. One that has not been
  /// started never will be; one that is queued completes as cancelled. Any thread, while the
  /// timer_core lives.
  bool retract() noexcept;

  wait_operation(function f, const timer_state& timer) noexcept;
  ~wait_operation() {
    if (!is_claimed_)
      settle();
  }

 private:
  friend class basic_timer_core<timer_traits>;
  friend class timer_state;

  bool settle() noexcept;

  scheduler* const scheduler_;
  timer_core* const core_;
};

/// The part of a timer that depends neither on its clock's types nor on its executor.
///
/// Thread safety: `cancel`, `cancel_one` may be called from any thread while the object lives. The
/// others are for one thread at a time. All are O(1), amortised, for each wait that is started,
/// cancelled or expires; O(log n), n their number, for those that had expired when they were
/// started. None but the constructors allocates.
class WEFT_API timer_state {
 public:
  timer_state(timer_service& service, const timer_clock& clock);

  /// A timer of the same clock and expiry.
  explicit timer_state(const timer_state& other) noexcept;

  /// Takes over the waits and the expiry of `other`, which is left without either.
  timer_state(timer_state&& other) noexcept;
  timer_state& operator=(timer_state&& other) noexcept;

  /// Cancels the waits.
  ~timer_state();

  scheduler& owner() const noexcept { return *scheduler_; }

  /// Sets when waits that start from now on are due. Those under way are cancelled; returns their
  /// number.
  std::size_t expires_at(std::int64_t expiry) noexcept {
    const std::size_t cancelled = cancel();
    expiry_ = expiry;
    return cancelled;
  }

  /// Cancels all waits that are not claimed, or the one that started first. Returns their number.
  std::size_t cancel() noexcept { return waits_.is_empty() ? 0 : cancel_waits(true); }
  std::size_t cancel_one() noexcept { return waits_.is_empty() ? 0 : cancel_waits(false); }

  /// Starts a wait that was made for the timer as it is. It completes exactly once, never inside
  /// this call.
  void start(wait_operation* op) noexcept { op->start(waits_); }

  /// The list of the waits.
  wait_link& waits() noexcept { return waits_; }

  /// Whether a wait that is started now is due.
  bool is_expired() const noexcept;

  /// Blocks the calling thread until the expiry is reached.
  void wait() const noexcept;

 private:
  friend class wait_operation;

  std::size_t cancel_waits(bool all) noexcept;

  timer_core* core_;
  scheduler* scheduler_;
  timer_queue* queue_;
  std::int64_t expiry_ = 0;
  wait_link waits_;
};

/// Answers a cancellation slot for a wait.
class wait_canceller {
 public:
  explicit wait_canceller(wait_operation* op) noexcept : op_(op) {}
  void operator()(cancellation_type_t type) const noexcept {
    if ((type & (cancellation_type::terminal | cancellation_type::partial |
                 cancellation_type::total)) != cancellation_type::none)
      op_->cancel();
  }

 private:
  wait_operation* op_;
};

inline wait_operation::wait_operation(function f, const timer_state& timer) noexcept
    : operation(f),
      basic_wait_node(timer.queue_, timer.expiry_),
      scheduler_(timer.scheduler_),
      core_(timer.core_) {}

}  // namespace WEFT_NAMESPACE::detail
