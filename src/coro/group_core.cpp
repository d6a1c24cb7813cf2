// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/group_core.hpp>

#include <cassert>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <weft/base/clock.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/coro/group_error.hpp>

#include "coro/expiry_handler.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

/// What the join reports of these failures.
std::exception_ptr merge(std::vector<child_error> errors) noexcept {
  if (errors.empty())
    return nullptr;
  const std::exception_ptr first = errors.front().error;
  if (errors.size() == 1)
    return first;
  try {
    return std::make_exception_ptr(group_error(std::move(errors)));
  } catch (...) {
    return first;  // there is no memory for the others
  }
}

}  // namespace

operation_results<std::exception_ptr> group_join_operation::take_results() noexcept {
  if (!is_granted() || (!outcome_ && is_cancelled_ && has_aborted_))
    return {exception_of(error::operation_aborted)};
  return {std::move(outcome_)};
}

group_core::group_core(execution_context& context, const task_group_options& options)
    : wait_core(context), options_(options) {
  assert(options.max_concurrency != 0 && "a task_group needs room for at least one child");
}

group_core::~group_core() {
  while (group_child* const child = first_failed_) {
    first_failed_ = child->failed_later_;
    dispose(*child);
  }
}

void group_core::close() noexcept {
  cancel_children(cancellation_type::terminal);
  std::unique_ptr<steady_timer> timer;
  {
    const std::lock_guard lock(*this);
    deadline_.reset();
    is_armed_ = false;
    timer = std::move(timer_);
  }
  timer.reset();
  wait_core::close();
}

std::size_t group_core::size() noexcept {
  const std::lock_guard lock(*this);
  return running_;
}

// ---- children

group_child& group_core::begin(const std::source_location& where, bool has_place) {
  group_child* child = nullptr;
  try {
    void* const memory = thread_memory::allocate(sizeof(group_child), alignof(group_child));
    child = ::new (memory) group_child(*this, where, has_place);
    const std::lock_guard lock(*this);
    if (deadline_ && !is_armed_ && !has_expired_)
      arm();
    children_.add(*child);
    if (!has_place)
      ++running_;
  } catch (...) {
    if (child)
      dispose(*child);
    if (has_place)
      give_back();
    throw;
  }
  retain();
  if (!has_place)
    retain();
  return *child;
}

void group_core::started(group_child& child) noexcept {
  cancellation_type requested;
  {
    const std::lock_guard lock(*this);
    requested = cancelled_.load(std::memory_order_relaxed);
  }
  if (requested != cancellation_type::none)
    child_list::emit_to(child, requested);
  bool is_last;
  {
    const std::lock_guard lock(*this);
    is_last = children_.drop(child);
  }
  if (is_last)
    dispose(child);
  release();
}

void group_core::end(group_child& child, std::exception_ptr error) noexcept {
  const bool is_limited = child.is_limited_;
  const bool has_obeyed = error && is_cancelled() && is_aborted(error);
  bool cancels = false;
  bool is_last;
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    has_aborted_ = has_aborted_ || has_obeyed;
    if (error && !has_obeyed) {
      // It stays in use until the join.
      child.error_ = std::move(error);
      (last_failed_ ? last_failed_->failed_later_ : first_failed_) = &child;
      last_failed_ = &child;
      children_.use(child);
      // Children need not heed a request of a lesser type.
      cancels = options_.cancel_on_failure &&
                (cancelled_.load(std::memory_order_relaxed) & cancellation_type::terminal) ==
                    cancellation_type::none;
    }
    if (cancels)
      request(cancellation_type::terminal, done);
    is_last = children_.end(child);
    leave(is_limited, done);
  }
  if (is_last)
    dispose(child);
  if (cancels)
    cancel_running(cancellation_type::terminal);
  release();
}

void group_core::give_back() noexcept {
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    leave(true, done);
  }
  release();
}

void group_core::dispose(child_task& child) noexcept {
  auto* const own = static_cast<group_child*>(&child);
  own->~group_child();
  thread_memory::deallocate(own, sizeof(group_child), alignof(group_child));
}

/// A child has ended, or a place is not needed.
void group_core::leave(bool is_limited, completed_waits& out) noexcept {
  --running_;
  if (is_limited) {
    if (group_spawn_operation* const next = spawns_.pop()) {
      ++running_;
      retain();
      out.grant(*next);
    } else {
      --limited_;
    }
  }
  settle(out);
}

/// Completes the joins if all has ended.
void group_core::settle(completed_waits& out) noexcept {
  if (!has_ended())
    return;
  disarm();
  group_join_operation* const first = joins_.pop();
  if (!first)
    return;
  take_outcome(*first);
  out.grant(*first);
  while (group_join_operation* const join = joins_.pop()) {
    join->outcome_ = first->outcome_;
    join->has_aborted_ = first->has_aborted_;
    out.grant(*join);
  }
}

/// Leaves the group as if newly made.
void group_core::take_outcome(group_join_operation& op) noexcept {
  std::vector<child_error> errors;
  std::size_t count = has_expired_ ? 1 : 0;
  for (const group_child* c = first_failed_; c; c = c->failed_later_)
    ++count;
  try {
    errors.reserve(count);
  } catch (...) {
    // As many as there is memory for.
  }
  const auto add = [&](std::exception_ptr error, const std::source_location& where) {
    if (errors.size() != errors.capacity())
      errors.push_back({std::move(error), where});
    else if (!op.outcome_)
      op.outcome_ = std::move(error);
  };
  while (group_child* const child = first_failed_) {
    first_failed_ = child->failed_later_;
    add(std::move(child->error_), child->where());
    if (children_.drop(*child))
      dispose(*child);
  }
  if (has_expired_)
    add(exception_of(error::timed_out), deadline_where_);
  if (!errors.empty())
    op.outcome_ = merge(std::move(errors));
  op.has_aborted_ = has_aborted_;

  last_failed_ = nullptr;
  cancelled_.store(cancellation_type::none, std::memory_order_relaxed);
  has_aborted_ = false;
  has_expired_ = false;
  deadline_.reset();
}

// ---- cancellation and the deadline

void group_core::request(cancellation_type type, completed_waits& out) noexcept {
  cancelled_.store(cancelled_.load(std::memory_order_relaxed) | type, std::memory_order_relaxed);
  out.abort(spawns_);
  ++cancelling_;
}

/// What follows a request: without the lock.
void group_core::cancel_running(cancellation_type type) noexcept {
  children_.emit(*this, type);
  completed_waits done;
  const std::lock_guard lock(*this);
  --cancelling_;
  settle(done);
}

void group_core::cancel_children(cancellation_type type) noexcept {
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    request(type, done);
  }
  cancel_running(type);
}

void group_core::expires_at(const any_io_executor& executor, clock::time_point deadline,
                            const std::source_location& where) {
  const std::lock_guard lock(*this);
  if (!timer_)
    timer_ = std::make_unique<steady_timer>(executor);
  deadline_ = deadline;
  deadline_where_ = where;
  disarm();
  if (running_ != 0 && !has_expired_)
    arm();
}

void group_core::arm() {
  timer_->expires_at(*deadline_);
  timer_->async_wait(expiry_handler(*this));
  is_armed_ = true;
}

void group_core::disarm() noexcept {
  if (std::exchange(is_armed_, false))
    timer_->cancel();
}

void group_core::expire() noexcept {
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    // The wait may have been for a deadline that was replaced, or met, meanwhile.
    if (!is_armed_ || clock_now<clock>() < *deadline_)
      return;
    is_armed_ = false;
    has_expired_ = true;
    request(cancellation_type::terminal, done);
  }
  cancel_running(cancellation_type::terminal);
}

// ---- those who wait

bool group_core::start(group_join_operation& op) noexcept {
  const std::lock_guard lock(*this);
  if (!has_ended()) {
    op.become_pending();
    joins_.push(op);
    return true;
  }
  take_outcome(op);
  op.become_granted();
  return false;
}

void group_core::cancel(group_join_operation& op, cancellation_type type) noexcept {
  if ((type & cancellation_type::terminal) == cancellation_type::none)
    return;
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    if (!op.is_pending())
      return;
    op.is_cancelled_ = true;
    request(type, done);
  }
  cancel_running(type);
}

bool group_core::start(group_spawn_operation& op) noexcept {
  const std::lock_guard lock(*this);
  if (is_cancelled())
    return false;
  if (limited_ == options_.max_concurrency) {
    op.become_pending();
    spawns_.push(op);
    return true;
  }
  ++limited_;
  ++running_;
  retain();
  op.become_granted();
  return false;
}

void group_core::withdraw(core_operation<group_core>& op, completed_waits& out) noexcept {
  for (group_join_operation* join = joins_.front(); join; join = joins_.after(*join))
    if (join == &op) {
      joins_.remove(*join);
      return out.abort(*join);
    }
  auto& spawn = static_cast<group_spawn_operation&>(op);
  spawns_.remove(spawn);
  out.abort(spawn);
}

void group_core::take_pending(completed_waits& out) noexcept {
  out.abort(joins_);
  out.abort(spawns_);
}

}  // namespace WEFT_NAMESPACE::detail
