// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <weft/async/async_result.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/sync/channel_error.hpp>
#include <weft/sync/publishing_core.hpp>
#include <weft/sync/shared_value.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// How far a receiver has come. Guarded by the lock of the core.
struct broadcast_cursor {
  std::uint64_t next;        // the number of the value that it gets next
  std::uint64_t missed = 0;  // values that were overwritten before it got them
};

template <class T, class Policy>
class broadcast_core;

template <class T, class Policy>
class broadcast_wait : public publishing_wait<broadcast_core<T, Policy>> {
  using core_type = broadcast_core<T, Policy>;

 public:
  template <class Initiation>
  broadcast_wait(operation::function f, scheduler& owner, Initiation&& initiation,
                 select_claim* claim = nullptr) noexcept
      : publishing_wait<core_type>(f, owner, initiation.core(), claim),
        cursor(&initiation.cursor()) {}

  bool start() noexcept { return this->core().start(*this); }

  static constexpr bool keeps_results = true;
  operation_results<error_code, T> take_results() {
    if (!this->is_granted())
      return {error::operation_aborted, T()};
    if (value)
      return {error_code(), value->get()};
    return {to_error_code(this->outcome), T()};
  }

  /// As a case of a select.
  std::optional<T> result() const { return value ? std::optional<T>(value->get()) : std::nullopt; }

  broadcast_cursor* const cursor;
  std::optional<shared_value<T>> value;
};

/// The last values that were sent, numbered; and who waits for the next one.
template <class T, class Policy>
class broadcast_core final
    : public publishing_core<broadcast_core<T, Policy>, broadcast_wait<T, Policy>, Policy> {
  using wait = broadcast_wait<T, Policy>;
  using base = publishing_core<broadcast_core, wait, Policy>;
  using base::is_closed_;
  friend base;

 public:
  broadcast_core(execution_context& context, std::size_t capacity)
      : base(context), values_(capacity) {
    assert(capacity != 0 && "a broadcast keeps at least one value");
  }

  std::size_t capacity() const noexcept { return values_.size(); }

  bool send(T&& value) {
    std::optional<shared_value<T>> slot(std::in_place, std::move(value));
    completed_waits done;
    const std::lock_guard lock(*this);
    if (is_closed_)
      return false;
    std::swap(values_[sent_ % values_.size()], slot);  // what was there goes when the lock has gone
    ++sent_;
    this->take_if([&](const wait& op) { return op.cursor->next < sent_; },
                  [&](wait& op) {
                    receive(op);
                    done.grant(op);
                  });
    return true;
  }

  bool is_open() noexcept {
    const std::lock_guard lock(*this);
    return !is_closed_;
  }

  /// A new receiver gets what is sent from now on.
  std::uint64_t now() noexcept {
    const std::lock_guard lock(*this);
    return sent_;
  }
  std::uint64_t take_missed(broadcast_cursor& cursor) noexcept {
    const std::lock_guard lock(*this);
    return std::exchange(cursor.missed, 0);
  }

  /// Aborts what waits with that cursor.
  void cancel_all_of(const broadcast_cursor& cursor) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    this->take_if([&](const wait& op) { return op.cursor == &cursor; },
                  [&](wait& op) { done.abort(op); });
  }

  /// The next value, if it is there; or the oldest that is left.
  std::optional<shared_value<T>> try_receive(broadcast_cursor& cursor) noexcept {
    const std::lock_guard lock(*this);
    catch_up(cursor);
    return cursor.next < sent_ ? value_at(cursor) : std::nullopt;
  }

 private:
  /// Whether it has missed some.
  bool catch_up(broadcast_cursor& cursor) noexcept {
    const std::uint64_t oldest = sent_ < values_.size() ? 0 : sent_ - values_.size();
    if (cursor.next >= oldest)
      return false;
    cursor.missed += oldest - cursor.next;
    cursor.next = oldest;
    return true;
  }
  const std::optional<shared_value<T>>& value_at(broadcast_cursor& cursor) noexcept {
    return values_[cursor.next++ % values_.size()];
  }

  /// A case of a select is not told that it has missed some.
  bool receive(wait& op) noexcept {
    broadcast_cursor& cursor = *op.cursor;
    if (catch_up(cursor) && !op.is_case()) {
      op.outcome = channel_outcome::lagged;
    } else if (cursor.next < sent_) {
      op.value = value_at(cursor);
    } else if (is_closed_) {
      op.outcome = channel_outcome::closed;
    } else {
      return false;
    }
    return true;
  }

  std::vector<std::optional<shared_value<T>>> values_;
  std::uint64_t sent_ = 0;
};

}  // namespace detail

/// Sends each value to all receivers that there are. Senders never wait: it keeps the last
/// `capacity` values, and a receiver that is slower than that hears how many it has missed.
///
///     broadcast<price> prices(context, 64);
///     broadcast<price>::receiver mine(prices);
///     const auto [ec, p] = co_await mine.async_receive(as_tuple);
///     if (ec == error::channel_lagged)
///       note(mine.take_missed());
///
/// T can be copied, and made by default. Each receiver gets a copy of its own, made when the
/// operation completes; a value whose copying may throw, or is long, is kept by a shared pointer.
///
/// Destroyed, it is closed first: receivers, which may outlive it, get what is left, and then
/// error::channel_closed.
///
/// Thread safety: with sharing::concurrent, all members, any thread, while it lives. Sending is
/// O(waits), receiving O(1).
template <class T, class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_broadcast {
  static_assert(std::copy_constructible<T> && std::is_default_constructible_v<T>,
                "every receiver of a broadcast gets a copy of the value, or T() with an error");
  using core_type = detail::broadcast_core<T, Policy>;

 public:
  using executor_type = Executor;
  using value_type = T;
  class receiver;

  /// Keeps `capacity` values, at least one. Throws std::bad_alloc.
  basic_broadcast(const executor_type& ex, std::size_t capacity)
      : executor_(ex), core_(std::in_place, detail::executor_context(executor_), capacity) {}
  template <detail::execution_context_type ExecutionContext>
  basic_broadcast(ExecutionContext& context, std::size_t capacity)
      : basic_broadcast(executor_type(context.get_executor()), capacity) {}
  basic_broadcast(const basic_broadcast&) = delete;
  basic_broadcast& operator=(const basic_broadcast&) = delete;
  ~basic_broadcast() { core_->end(); }

  const executor_type& get_executor() const noexcept { return executor_; }
  std::size_t capacity() const noexcept { return core_->capacity(); }
  bool is_open() const noexcept { return core_->is_open(); }

  /// Sends, to all receivers that there are now. False if it has been closed. Throws what storing
  /// the value throws.
  bool send(T value) { return core_->send(std::move(value)); }

  /// Nothing is sent from now on.
  void close() noexcept { core_->end(); }

 private:
  Executor executor_;
  detail::core_handle<core_type> core_;
};

/// Receives what is sent after it was made. It stays where it is. Its operations complete in the
/// order in which they were started.
template <class T, class Policy, class Executor>
class basic_broadcast<T, Policy, Executor>::receiver {
 public:
  using executor_type = Executor;

  explicit receiver(basic_broadcast& from) noexcept
      : executor_(from.executor_), core_(*from.core_), cursor_{core_.now()} {
    core_.retain();
  }
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  /// Cancels its operations.
  ~receiver() {
    cancel();
    core_.release();
  }

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Aborts its operations. Any thread.
  void cancel() noexcept { core_.cancel_all_of(cursor_); }

  /// The next value, if there is one; if values were overwritten before it came to them, the oldest
  /// that is left. Does not wait. Throws what copying the value throws: that one has been received
  /// then. Any thread. O(1).
  std::optional<T> try_receive() {
    std::optional<T> copy;
    if (const auto value = core_.try_receive(cursor_))
      copy.emplace(value->get());
    return copy;
  }

  /// How many values it has missed since this was last asked.
  std::uint64_t take_missed() noexcept { return core_.take_missed(cursor_); }

  /// The next value.
  ///
  /// Completion: `void(error_code, T)`: success; error::channel_lagged, if values were overwritten
  /// before it came to them, and it goes on at the oldest that is left; error::channel_closed,
  /// after the last; error::operation_aborted. Cancellation: `cancel`, and the slot (terminal,
  /// partial, total): nothing has been taken. Throws what the allocation, or moving the handler,
  /// throws. Any thread. O(1).
  template <completion_token_for<void(error_code, T)> Token = default_completion_token_t<Executor>>
  auto async_receive(Token&& token = default_completion_token_t<Executor>()) {
    return async_initiate<Token, void(error_code, T)>(initiate(*this), token);
  }

 private:
  friend struct detail::publishing_access;

  class initiate {
   public:
    using executor_type = Executor;
    using operation_type = detail::broadcast_wait<T, Policy>;

    explicit initiate(receiver& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }
    detail::scheduler& owner() const noexcept { return core().owner(); }
    core_type& core() const noexcept { return self_->core_; }
    detail::broadcast_cursor& cursor() const noexcept { return self_->cursor_; }

    template <completion_handler_for<void(error_code, T)> Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }

   private:
    receiver* self_;
  };

  Executor executor_;
  core_type& core_;
  detail::broadcast_cursor cursor_;
};

/// A broadcast on any executor.
template <class T, class Policy = sharing::concurrent>
using broadcast = basic_broadcast<T, Policy, any_io_executor>;

}  // namespace WEFT_NAMESPACE
