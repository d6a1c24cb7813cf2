// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/sync/channel_buffer.hpp>
#include <weft/sync/channel_error.hpp>
#include <weft/sync/channel_ring.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

/// Decides which case of a select is performed: the first that claims it. Several channels may try,
/// each under its own lock. Relaxed: it carries nothing but the decision; the winner is queued with
/// a scheduler, and the losers are unlinked under their channels' locks.
class select_claim {
 public:
  bool claim(const void* by) noexcept {
    const void* nobody = nullptr;
    return winner_.compare_exchange_strong(nobody, by, std::memory_order_relaxed);
  }
  const void* winner() const noexcept { return winner_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const void*> winner_{nullptr};
};

enum class channel_outcome : std::uint8_t { success, closed, lagged, no_memory };

WEFT_API error_code to_error_code(channel_outcome outcome) noexcept;

template <class T, class Policy>
class channel_core;

/// One who waits in a channel, to send or to receive; by itself, or as a case of a select.
template <class T, class Policy>
class channel_wait : public core_operation<channel_core<T, Policy>> {
 public:
  using core_type = channel_core<T, Policy>;
  using wait_type = channel_wait;  // what claims a select

  /// Why it has failed, if it has.
  error_code error() const noexcept {
    if (!this->is_granted()) [[unlikely]]
      return error::operation_aborted;
    return outcome_ == channel_outcome::success ? error_code() : to_error_code(outcome_);
  }
  bool has_succeeded() const noexcept {
    return this->is_granted() && outcome_ == channel_outcome::success;
  }

 protected:
  channel_wait(operation::function f, scheduler& owner, core_type& core, bool sends,
               select_claim* claim) noexcept
      : core_operation<core_type>(f, owner, core), sends_(sends), claim_(claim) {}
  ~channel_wait() = default;

 private:
  friend core_type;

  /// Under the lock: whether it may be performed. A case may not that has lost.
  bool claim() noexcept { return !claim_ || claim_->claim(this); }

  const bool sends_;
  channel_outcome outcome_ = channel_outcome::success;
  select_claim* const claim_;
};

template <class T, class Policy>
class channel_send : public channel_wait<T, Policy> {
 public:
  using typename channel_wait<T, Policy>::core_type;

  template <class V>
  channel_send(operation::function f, scheduler& owner, core_type& core, V&& v,
               select_claim* claim = nullptr)
      : channel_wait<T, Policy>(f, owner, core, true, claim), value(std::forward<V>(v)) {}

  bool try_complete() noexcept {
    const bool done = this->core().send_at_once(value);
    if (done)
      this->become_granted();
    return done;
  }
  bool start() noexcept { return this->core().start(*this); }
  void take_awaited() const noexcept {}
  operation_results<error_code> take_results() const noexcept { return {this->error()}; }

  T value;  // moved from, if it has succeeded
};

template <class T, class Policy>
class channel_receive : public channel_wait<T, Policy> {
 public:
  using typename channel_wait<T, Policy>::core_type;

  channel_receive(operation::function f, scheduler& owner, core_type& core,
                  select_claim* claim = nullptr) noexcept
      : channel_wait<T, Policy>(f, owner, core, false, claim) {}

  bool try_complete() noexcept {
    const bool done = this->core().receive_at_once(value);
    if (done)
      this->become_granted();
    return done;
  }
  bool start() noexcept { return this->core().start(*this); }

  std::optional<T> value;  // if it has succeeded
};

/// The state of a channel. What it holds is in a ring, if the channel is bounded and used by
/// several threads, otherwise in a buffer. As long as nobody waits, those who find the ring neither
/// full nor empty need no lock. When one has to wait, and from the channel's end on, the ring is
/// shut.
///
/// Under the lock:
///   - while somebody waits to receive, the channel holds nothing;
///   - while somebody waits to send, it is full;
///   - while somebody waits, or it has been closed, its ring is shut;
///   - cases of selects that have lost may be in the queues until their selects have ended. They
///     are passed over.
///
/// The lock excludes those too who need none: it shuts the ring, and what unlocks opens it, if it
/// may. So whoever has it has all.
template <class T, class Policy>
class channel_core final : public wait_core<Policy> {
  using base = wait_core<Policy>;
  using wait = channel_wait<T, Policy>;
  using send_type = channel_send<T, Policy>;
  using receive_type = channel_receive<T, Policy>;
  static constexpr bool is_concurrent = Policy::is_concurrent;

  struct no_ring {
    explicit no_ring(std::size_t) noexcept {}
  };
  using ring = std::conditional_t<is_concurrent, channel_ring<T, channel_atomics>, no_ring>;

 public:
  /// Throws std::bad_alloc.
  channel_core(execution_context& context, std::size_t capacity)
      : base(context),
        capacity_(capacity),
        ring_(has_ring() ? capacity : 0),
        buffer_(has_ring() ? 0 : capacity) {}

  std::size_t capacity() const noexcept { return capacity_; }

  bool is_open() noexcept {
    const std::lock_guard lock(as_base());
    return !is_closed_;
  }

  std::size_t size() noexcept {
    if constexpr (is_concurrent)
      if (has_ring())
        return ring_.size();
    const std::lock_guard lock(as_base());
    return buffer_.size();
  }

  void lock() noexcept {
    base::lock();
    if constexpr (is_concurrent)
      ring_.shut();
  }
  void unlock() noexcept {
    reopen();
    base::unlock();
  }

  // ---- without waiting

  /// False, with `value` left alone, if it would have to wait. `outcome` tells the rest.
  bool try_send(T& value, channel_outcome& outcome) noexcept {
    if constexpr (is_concurrent) {
      const auto attempt = push_to_ring(value);
      if (attempt != ring::attempt::unclear)
        return attempt == ring::attempt::done;
    }
    completed_wait done;
    const std::lock_guard lock(*this);
    return send_now(value, outcome, done);
  }

  bool try_receive(std::optional<T>& value, channel_outcome& outcome) noexcept {
    if constexpr (is_concurrent) {
      const auto attempt = pop_from_ring(value);
      if (attempt != ring::attempt::unclear)
        return attempt == ring::attempt::done;
    }
    completed_wait done;
    const std::lock_guard lock(*this);
    return receive_now(value, outcome, done);
  }

  /// Whether it could be done at once. If not, nothing has happened.
  [[gnu::always_inline]] bool send_at_once(T& value) noexcept {
    if constexpr (is_concurrent) {
      if (push_to_ring(value) == ring::attempt::done) [[likely]]
        return true;
      return receivers_wait_.load(std::memory_order_relaxed) && hand_over(value);
    } else {
      const std::lock_guard lock(as_base());
      if (!receivers_.empty())
        return hand_over(value);
      return !buffer_.full() && !is_closed_ && buffer_.push(value);
    }
  }
  [[gnu::always_inline]] bool receive_at_once(std::optional<T>& value) noexcept {
    if constexpr (is_concurrent) {
      if (pop_from_ring(value) == ring::attempt::done) [[likely]]
        return true;
      return senders_wait_.load(std::memory_order_relaxed) && take_over(value);
    } else {
      const std::lock_guard lock(as_base());
      if (!senders_.empty())
        return take_over(value);
      if (buffer_.empty())
        return false;
      value.emplace(std::move(buffer_.front()));
      buffer_.drop();
      return true;
    }
  }

  // ---- waiting

  /// Whether it is pending now.
  template <class Operation>
  bool start(Operation& op) noexcept {
    completed_wait done;
    const std::lock_guard lock(*this);
    if (perform(op, done))
      return false;
    enqueue(op);
    return true;
  }

  /// No value comes in from now on. Those who wait to send fail; those who wait to receive too,
  /// for then there is nothing left.
  void end() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    is_closed_ = true;
    finish_all(senders_, done);
    finish_all(receivers_, done);
  }

  /// Drops what it holds, cancels what waits, and opens it again.
  void reset() noexcept {
    this->cancel();
    std::optional<T> dropped;
    auto outcome = channel_outcome::success;
    while (try_receive(dropped, outcome) && dropped)
      dropped.reset();
    const std::lock_guard lock(*this);
    is_closed_ = false;
  }

  /// Whether there is something to receive.
  bool is_ready() noexcept {
    if (size() != 0)
      return true;
    const std::lock_guard lock(as_base());
    return !senders_.empty();
  }

  // ---- under the lock

  /// Whether it has completed without waiting. `done` is a completed_wait, or completed_waits.
  template <class Completed>
  bool perform(send_type& op, Completed& done) noexcept {
    if (!send_now(op.value, op.outcome_, done))
      return false;
    op.become_granted();
    return true;
  }
  template <class Completed>
  bool perform(receive_type& op, Completed& done) noexcept {
    if (!receive_now(op.value, op.outcome_, done))
      return false;
    op.become_granted();
    return true;
  }

  void enqueue(send_type& op) noexcept {
    op.become_pending();
    senders_.push(op);
  }
  void enqueue(receive_type& op) noexcept {
    op.become_pending();
    receivers_.push(op);
  }

  /// Unlinks one that is pending.
  void remove(wait& op) noexcept { (op.sends_ ? senders_ : receivers_).remove(op); }

  void withdraw(core_operation<channel_core>& op, completed_waits& done) noexcept {
    remove(static_cast<wait&>(op));
    done.abort(op);
  }

  /// A case of a select that has lost is not to be ended.
  bool abandon(core_operation<channel_core>& op, completed_waits& done) noexcept {
    if (!static_cast<wait&>(op).claim())
      return false;
    withdraw(op, done);
    return true;
  }

 private:
  bool has_ring() const noexcept {
    return is_concurrent && capacity_ != 0 && capacity_ != unbounded;
  }
  base& as_base() noexcept { return *this; }

  void take_pending(completed_waits& out) noexcept override {
    while (wait* const op = claim_first(senders_))
      out.abort(*op);
    while (wait* const op = claim_first(receivers_))
      out.abort(*op);
    reopen();
  }

  void reopen() noexcept {
    if constexpr (is_concurrent) {
      senders_wait_.store(!senders_.empty(), std::memory_order_relaxed);
      receivers_wait_.store(!receivers_.empty(), std::memory_order_relaxed);
      if (senders_.empty() && receivers_.empty() && !is_closed_)
        ring_.let_in();
    }
  }

  // Where somebody waits.
  [[gnu::noinline]] bool hand_over(T& value) noexcept {
    completed_wait done;
    const std::lock_guard lock(*this);
    auto outcome = channel_outcome::success;
    return send_now(value, outcome, done) && outcome == channel_outcome::success;
  }
  [[gnu::noinline]] bool take_over(std::optional<T>& value) noexcept {
    completed_wait done;
    const std::lock_guard lock(*this);
    auto outcome = channel_outcome::success;
    return receive_now(value, outcome, done) && value;
  }

  [[gnu::always_inline]] auto push_to_ring(T& value) noexcept {
    return ring_.try_push(value, [this] { designate(); });
  }
  [[gnu::always_inline]] auto pop_from_ring(std::optional<T>& value) noexcept {
    return ring_.try_pop([&](T&& v) { value.emplace(std::move(v)); }, [this] { designate(); });
  }
  [[gnu::noinline]] void designate() noexcept {
    const std::lock_guard lock(*this);
    ring_.designate();
  }

  /// Takes out the first that may be performed, or returns null if there is none.
  [[gnu::always_inline]] static wait* claim_first(wait_list<wait>& waiting) noexcept {
    for (wait* op = waiting.front(); op; op = wait_list<wait>::after(*op))
      if (op->claim()) [[likely]] {
        waiting.remove(*op);
        return op;
      }
    return nullptr;
  }

  static void finish_all(wait_list<wait>& waiting, completed_waits& done) noexcept {
    while (wait* const op = claim_first(waiting)) {
      op->outcome_ = channel_outcome::closed;
      done.grant(*op);
    }
  }

  bool full() const noexcept {
    if constexpr (is_concurrent)
      if (has_ring())
        return ring_.full();
    return buffer_.full();
  }
  bool push(T& value) noexcept {
    if constexpr (is_concurrent)
      if (has_ring()) {
        ring_.push(value);
        return true;
      }
    return buffer_.push(value);
  }
  bool pop(std::optional<T>& to) noexcept {
    if constexpr (is_concurrent)
      if (has_ring()) {
        T* const value = ring_.front();
        if (!value)
          return false;
        to.emplace(std::move(*value));
        std::destroy_at(value);
        ring_.drop();
        return true;
      }
    if (buffer_.empty())
      return false;
    to.emplace(std::move(buffer_.front()));
    buffer_.drop();
    return true;
  }

  template <class Completed>
  [[gnu::always_inline]] bool send_now(T& value, channel_outcome& outcome,
                                       Completed& done) noexcept {
    if (is_closed_) [[unlikely]] {
      outcome = channel_outcome::closed;
      return true;
    }
    if (wait* const op = claim_first(receivers_)) {
      static_cast<receive_type*>(op)->value.emplace(std::move(value));
      done.grant(*op);
      return true;
    }
    if (full())
      return false;
    if (!push(value)) [[unlikely]]
      outcome = channel_outcome::no_memory;
    return true;
  }

  template <class Completed>
  [[gnu::always_inline]] bool receive_now(std::optional<T>& value, channel_outcome& outcome,
                                          Completed& done) noexcept {
    if (pop(value)) {
      if (wait* const op = claim_first(senders_)) {
        push(static_cast<send_type*>(op)->value);  // there is memory: it was bounded, and full
        done.grant(*op);
      }
      return true;
    }
    if (wait* const op = claim_first(senders_)) {
      value.emplace(std::move(static_cast<send_type*>(op)->value));
      done.grant(*op);
      return true;
    }
    if (!is_closed_)
      return false;
    outcome = channel_outcome::closed;
    return true;
  }

  const std::size_t capacity_;
  wait_list<wait> senders_;
  wait_list<wait> receivers_;
  bool is_closed_ = false;
  std::atomic<bool> senders_wait_{false};  // hints for who has not the lock
  std::atomic<bool> receivers_wait_{false};
  [[no_unique_address]] ring ring_;
  channel_buffer<T> buffer_;
};

}  // namespace WEFT_NAMESPACE::detail
