// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write_queue.hpp>

#include <algorithm>
#include <cassert>

namespace WEFT_NAMESPACE::detail {

write_queue_core::write_queue_core(execution_context& context, const write_queue_options& options)
    : wait_core(context), options_(options) {
  assert(options.low <= options.high && "a write_queue's low mark is above its high one: set both");
}

write_queue_core::~write_queue_core() = default;

bool write_queue_core::start(core_operation<write_queue_core, queued_write>& op) noexcept {
  std::span<const const_buffer> buffers;
  {
    completed_waits none;
    const std::lock_guard lock(*this);
    if (error_)
      op.error_ = error_;
    else if (is_closed_ && op.size_ != 0)
      op.error_ = error::shut_down;
    if (op.error_ || (op.size_ == 0 && !is_writing_)) {
      op.become_granted();
      return false;
    }
    op.become_pending();
    waiting_.push(op);
    queued_ += op.size_;
    is_full_ = is_full_ || queued_ >= options_.high;
    if (is_writing_)
      return true;
    is_writing_ = true;
    retain();
    buffers = gather(none);
  }
  write(buffers);
  return true;
}

void write_queue_core::withdraw(queued_write& op, completed_waits& out) noexcept {
  if (op.has_begun_ && op.size_ != 0)
    return;
  (op.has_begun_ ? begun_ : waiting_).remove(op);
  queued_ -= op.size_;
  out.abort(op);
  give_room(out);
}

bool write_queue_core::try_enter(const request&) noexcept {
  const std::lock_guard lock(*this);
  return !is_full_;
}

bool write_queue_core::wait(core_operation<write_queue_core>& op) noexcept {
  const std::lock_guard lock(*this);
  if (!is_full_) {
    op.become_granted();
    return false;
  }
  op.become_pending();
  waiting_for_room_.push(op);
  return true;
}

void write_queue_core::withdraw(waiting_operation& op, completed_waits& out) noexcept {
  waiting_for_room_.remove(op);
  out.abort(op);
}

std::size_t write_queue_core::queued() noexcept {
  const std::lock_guard lock(*this);
  return queued_;
}

void write_queue_core::refuse() noexcept {
  const std::lock_guard lock(*this);
  is_closed_ = true;
}

void write_queue_core::written(const error_code& ec, std::size_t n) noexcept {
  completed_waits done;
  std::span<const const_buffer> buffers;
  {
    const std::lock_guard lock(*this);
    const bool is_stuck = n == 0 && !begun_.empty() && begun_.front()->unwritten() != 0;
    consume(n, done);
    if (ec || is_stuck)
      fail(ec ? ec : error_code(error::broken_pipe), done);
    else if (has_ended_)
      fail(error::operation_aborted, done);
    else
      buffers = gather(done);
    give_room(done);
    is_writing_ = !buffers.empty();
  }
  if (buffers.empty())
    release();
  else
    write(buffers);
}

/// What the next call of the stream is to write: the rest of what has begun, and what waits. Empty
/// if that is nothing.
std::span<const const_buffer> write_queue_core::gather(completed_waits& done) noexcept {
  std::size_t n = 0;
  for (queued_write* op = begun_.front(); op && n != buffers_.size(); op = begun_.after(*op))
    n += op->fill_(*op, buffers_.data() + n, buffers_.size() - n);
  while (n != buffers_.size() && !waiting_.empty()) {
    queued_write& op = *waiting_.pop();
    if (op.size_ == 0 && begun_.empty()) {
      done.grant(op);
      continue;
    }
    op.has_begun_ = true;
    begun_.push(op);
    n += op.fill_(op, buffers_.data() + n, buffers_.size() - n);
  }
  return {buffers_.data(), n};
}

/// The stream has taken `n` bytes: ends the writes that are complete.
void write_queue_core::consume(std::size_t n, completed_waits& done) noexcept {
  queued_ -= n;
  while (queued_write* const op = begun_.front()) {
    const std::size_t taken = std::min(n, op->unwritten());
    op->written_ += taken;
    n -= taken;
    if (op->unwritten() != 0)
      return;
    begun_.remove(*op);
    done.grant(*op);
  }
  assert(n == 0 && "a stream has written more than a write_queue gave it");
}

/// Ends all writes so, and those to come.
void write_queue_core::fail(const error_code& ec, completed_waits& done) noexcept {
  error_ = ec;
  queued_ = 0;
  for (wait_list<queued_write>* const list : {&begun_, &waiting_})
    while (queued_write* const op = list->pop()) {
      op->error_ = ec;
      done.grant(*op);
    }
}

void write_queue_core::give_room(completed_waits& done) noexcept {
  is_full_ = is_full_ && queued_ > options_.low;
  if (!is_full_)
    done.grant(waiting_for_room_);
}

void write_queue_core::take_pending(completed_waits& out) noexcept {
  out.abort(waiting_for_room_);
  while (queued_write* const op = waiting_.front())
    withdraw(*op, out);
  for (queued_write *op = begun_.front(), *next = nullptr; op; op = next) {
    next = begun_.after(*op);
    withdraw(*op, out);
  }
}

void write_queue_core::take_all(completed_waits& out) noexcept {
  take_pending(out);
  has_ended_ = true;
}

}  // namespace WEFT_NAMESPACE::detail
