// SPDX-License-Identifier: BSL-1.0
#include <cerrno>

#include "io/io_driver.hpp"
#include "io/stream_source.hpp"

// The way of an operation through its queue: begun, submitted, finished or withdrawn. What returns
// an operation wants it handed to the pool, unlocked.

namespace WEFT_NAMESPACE::detail {

constexpr bool is_unfinished(io_status status) noexcept {
  return status != io_status::done && status != io_status::drained;
}

/// Before a queue's operation is begun. Object locked.
inline bool io_driver::try_now(io_object& object, io_operation* op) const noexcept {
  const io_kind& kind = op->kind();
  if (!kind.plain) [[unlikely]]
    return try_special(object, op);
  return object.is_ready(op->queue()) && object.pollable && !(kind.prepare && backend_->batches());
}

bool io_driver::try_special(io_object& object, io_operation* op) const noexcept {
  if (op->kind().consumer) {
    const stream_source& source = *op->kind().consumer(*op).source.get();
    if (source.ahead || source.stopped)
      return !source.brings_nothing();
  }
  if (op->kind().registered && backend_->knows(op->kind().registered(*op)))
    return false;
  if (op->kind().prepare && backend_->batches())
    return false;
  return !op->kind().blocking && object.pollable && object.is_ready(op->queue());
}

inline io_status io_driver::attempt(io_object& object, io_operation* op) noexcept {
  const io_status status = op->kind().perform(*op);
  if (status != io_status::done || !op->kind().plain) [[unlikely]]
    note_attempt(object, *op, status);
  return status;
}

void io_driver::note_attempt(io_object& object, io_operation& op, io_status status) noexcept {
  if (status == io_status::again || (status == io_status::drained && !object.hangup))
    object.is_ready(op.queue()) = false;
  if (op.queue() == io_queue::read)
    object.emptied = status == io_status::again || status == io_status::drained;
  op.later_ = status == io_status::later;
  if (op.later_)
    try_later(object);
  else if (op.kind().makes_descriptor && !is_unfinished(status))
    note_shortage(object, op);
}

/// Begins an operation, if it is the next of its queue: by an attempt, if that promises something.
/// What it returns: `later`, it only waits in the queue; otherwise unfinished, it is to be
/// submitted. Object locked.
inline io_status io_driver::begin(io_object& object, io_operation* op) noexcept {
  const io_queue queue = op->queue();
  op->fd = object.fd.load(std::memory_order_relaxed);
  op->state_ = io_operation::state::finished;  // unless it is queued after all
  if (object.closed || op->cancelled_) [[unlikely]] {
    op->fail(object.closed ? EBADF : ECANCELED);
    return io_status::done;
  }
  if ((!object.list(queue).empty() && queue != io_queue::concurrent) || hold_back(object, *op))
    return io_status::later;
  if (!try_now(object, op))
    return io_status::again;
  const io_status status = attempt(object, op);
  if (queue == io_queue::read) {
    if (status == io_status::done)
      object.misses = 0;
    else if (status == io_status::again)
      object.misses += object.misses != UINT8_MAX;
  }
  return status;
}

/// What is to be done without the object's lock.
inline void io_driver::complete(operation_queue& ready, io_operation* to_pool) noexcept {
  if (!ready.empty())
    scheduler_.complete(ready);
  if (to_pool)
    pool_.submit(to_pool, scheduler_.alone());
}

[[gnu::noinline]] void io_driver::enqueue_elsewhere(io_object& object, io_operation* op,
                                                    submitted_to where) noexcept {
  operation_queue ready;
  io_operation* const to_pool = submit_elsewhere(object, op, where, ready);
  object.mutex.unlock();
  complete(ready, to_pool);
}

/// Gives the operation to a source or to the backend. Object locked.
inline submitted_to io_driver::hand_over(io_object& object, io_operation* op) noexcept {
  if (!op->kind().plain && op->kind().consumer && supplied(object, op))
    return submitted_to::waiting;
  const submitted_to where = backend_->submit(object, op);
  if (where == submitted_to::kernel) {
    op->state_ = io_operation::state::submitted;
    op->pooled_ = false;
    object.count_submitted(1);
  }
  return where;
}

/// Queues an operation that `begin` has not finished. Unlocks the object.
[[gnu::always_inline]] inline void io_driver::enqueue(io_object& object, io_operation* op,
                                                      io_status status) noexcept {
  scheduler_.work_started();
  op->state_ = io_operation::state::queued;
  object.list(op->queue()).push_back(op);
  if (status != io_status::later) {
    const submitted_to where = hand_over(object, op);
    if (where > submitted_to::kernel) [[unlikely]]
      return enqueue_elsewhere(object, op, where);
  }
  object.mutex.unlock();
}

void io_driver::start(io_operation* op) noexcept {
  io_object& object = *op->object_;
  object.mutex.lock();
  const io_status status = begin(object, op);
  if (is_unfinished(status))
    return enqueue(object, op, status);
  object.mutex.unlock();
  scheduler_.complete_uncounted(op);
}

bool io_driver::start_or_finish(io_operation* op) noexcept {
  io_object& object = *op->object_;
  object.mutex.lock();
  const io_status status = begin(object, op);
  if (is_unfinished(status)) {
    enqueue(object, op, status);
    return false;
  }
  object.mutex.unlock();
  return true;
}

io_operation* io_driver::submit(io_object& object, io_operation* op,
                                operation_queue& ready) noexcept {
  const submitted_to where = hand_over(object, op);
  return where > submitted_to::kernel ? submit_elsewhere(object, op, where, ready) : nullptr;
}

/// The backend has not taken the operation. Object locked.
io_operation* io_driver::submit_elsewhere(io_object& object, io_operation* op, submitted_to where,
                                          operation_queue& ready) noexcept {
  if (where == submitted_to::failed)
    return finish(object, op, ready);
  op->state_ = io_operation::state::submitted;
  op->pooled_ = true;
  op->prev_ = op->next_ = nullptr;  // it may be cancelled before it is in the pool's queue
  object.pooled.fetch_add(1, std::memory_order_relaxed);
  return op;
}

/// Begins what is to be begun of a queue. Object locked.
[[gnu::always_inline]] inline io_operation* io_driver::submit_from(
    io_operation_list& list, io_object& object, operation_queue& ready) noexcept {
  while (io_operation* op = list.front()) {
    if (op->state_ != io_operation::state::queued || hold_back(object, *op))
      return nullptr;
    const io_status status = try_now(object, op) ? attempt(object, op) : io_status::again;
    if (is_unfinished(status))
      return status == io_status::later ? nullptr : submit(object, op, ready);
    remove(list, op, ready);
  }
  return nullptr;
}

io_operation* io_driver::submit_front(io_object& object, io_queue queue,
                                      operation_queue& ready) noexcept {
  return submit_from(object.list(queue), object, ready);
}

inline void io_driver::remove(io_operation_list& list, io_operation* op,
                              operation_queue& ready) noexcept {
  list.erase(op);
  op->state_ = io_operation::state::finished;
  ready.push(op);
}

io_operation* io_driver::finish(io_object& object, io_operation* op,
                                operation_queue& ready) noexcept {
  const io_queue queue = op->queue();
  remove(object.list(queue), op, ready);
  return object.list(queue).empty() ? nullptr : begin_next(object, queue, ready);
}

io_operation* io_driver::begin_next(io_object& object, io_queue queue,
                                    operation_queue& ready) noexcept {
  return queue == io_queue::concurrent || object.closed ? nullptr
                                                        : submit_front(object, queue, ready);
}

void io_driver::perform(io_object& object, io_queue queue, operation_queue& ready) noexcept {
  object.is_ready(queue) = true;
  perform_front(object, queue, ready);
}

void io_driver::perform_front(io_object& object, io_queue queue, operation_queue& ready) noexcept {
  if (io_operation* to_pool = submit_from(object.list(queue), object, ready)) [[unlikely]]
    refuse(object, to_pool, ready);
}

/// Only what blocks goes to the pool, and such objects are not polled; but a descriptor may change
/// its mind about what it is. Fail rather than block the poller.
void io_driver::refuse(io_object& object, io_operation* to_pool, operation_queue& ready) noexcept {
  object.pooled.fetch_sub(1, std::memory_order_relaxed);
  to_pool->fail(EOPNOTSUPP);
  finish(object, to_pool, ready);
}

void io_driver::answered(io_operation* op, io_answer answer, operation_queue& ready) noexcept {
  const io_kind& kind = op->kind();
  if (!kind.plain || op->polled_ || answer.result == -ECANCELED) [[unlikely]]
    return answered_specially(op, answer, ready);
  io_object& object = *op->object_;
  object.mutex.lock();
  object.count_submitted(-1);
  const io_status status = kind.finish(*op, answer);
  if (is_unfinished(status)) [[unlikely]]
    return go_on(object, op, status, ready);
  const io_queue queue = op->queue();
  note_answer(object, queue, status);
  remove(object.list(queue), op, ready);
  if (!object.list(queue).empty()) [[unlikely]]
    return go_on_with_next(object, queue, ready);
  object.mutex.unlock();
}

[[gnu::noinline]] void io_driver::answered_specially(io_operation* op, io_answer answer,
                                                     operation_queue& ready) noexcept {
  if (op->kind().feed)
    return fed(static_cast<stream_source&>(*op), answer, ready);
  io_object& object = *op->object_;
  object.mutex.lock();
  object.count_submitted(-1);
  io_status status = io_status::again;
  if (answer.result == -ECANCELED) {
    // Unasked for, it means that the thread which submitted the operation has exited.
  } else if (op->polled_) {
    if (answer.result < 0) {
      op->fail(-answer.result);
      status = io_status::done;
    } else {
      status = attempt(object, op);
    }
  } else {
    status = op->kind().finish(*op, answer);
    if (op->kind().makes_descriptor && !is_unfinished(status))
      note_shortage(object, *op);
  }
  op->polled_ = false;
  go_on(object, op, status, ready);
}

/// Takes note of whether a read after this one is tried at once. Object locked.
inline void io_driver::note_answer(io_object& object, io_queue queue, io_status status) noexcept {
  if (queue == io_queue::read) {
    object.is_ready(io_queue::read) = status == io_status::done && object.misses < 4;
    object.emptied = status != io_status::done;
  }
}

/// After what the kernel has answered. Unlocks the object.
[[gnu::noinline]] void io_driver::go_on(io_object& object, io_operation* op, io_status status,
                                        operation_queue& ready) noexcept {
  op->state_ = io_operation::state::queued;
  if (op->unless_begun_ && op->bytes != 0)
    op->cancelled_ = op->unless_begun_ = false;
  if (is_unfinished(status) && (op->cancelled_ || object.closed)) {
    op->fail(ECANCELED);
    status = io_status::done;
  }
  io_operation* to_pool = nullptr;
  if (status == io_status::later) {
    op->later_ = true;
    try_later(object);  // it stays the front of its queue
  } else if (is_unfinished(status)) {
    note_answer(object, op->queue(), status);
    to_pool = submit(object, op, ready);
  } else {
    note_answer(object, op->queue(), status);
    to_pool = finish(object, op, ready);
  }
  object.mutex.unlock();
  if (to_pool)
    pool_.submit(to_pool);
}

/// An operation has left the queue, in which others wait. Unlocks the object.
[[gnu::noinline]] void io_driver::go_on_with_next(io_object& object, io_queue queue,
                                                  operation_queue& ready) noexcept {
  io_operation* const to_pool = begin_next(object, queue, ready);
  object.mutex.unlock();
  if (to_pool)
    pool_.submit(to_pool);
}

/// Helpers have performed operations, which are taken out of their queues.
void io_driver::performed(operation_queue& results, operation_queue& ready) noexcept {
  while (!results.empty()) {
    io_object& object = *static_cast<io_operation*>(results.front())->object_;
    io_operation* to_pool = nullptr;
    {
      const object_lock lock(object.mutex);
      do {
        auto* const op = static_cast<io_operation*>(results.pop());
        op->state_ = io_operation::state::queued;
        op->pooled_ = false;
        to_pool = finish(object, op, ready);
        if (object.pooled.fetch_sub(1, std::memory_order_release) == 1 && object.closed)
          pool_.end_await();
      } while (!to_pool && !results.empty() &&
               static_cast<io_operation*>(results.front())->object_ == &object);
    }
    if (to_pool)
      pool_.submit(to_pool);
  }
}

/// Returns when they have performed what they have begun for a closing object.
void io_driver::await_helpers(io_object& object) noexcept {
  while (object.pooled.load(std::memory_order_acquire) != 0) {
    operation_queue results(pool_.await(object.pooled));
    operation_queue ready;
    performed(results, ready);
    scheduler_.complete(ready);
  }
}

// ---- cancellation

/// Asks for the end of an operation. Whether it has failed at once, and is to be finished;
/// otherwise it has ended already or will when the kernel or the pool answers. Object locked.
bool io_driver::withdraws(io_object& object, io_operation* op, bool unless_begun) noexcept {
  const bool asked = op->cancelled_;
  if (unless_begun && (asked || (!op->pooled_ && op->bytes != 0)))
    return false;
  op->cancelled_ = true;
  op->unless_begun_ = unless_begun;
  switch (op->state_) {
    case io_operation::state::fresh:
    case io_operation::state::finished: return false;
    case io_operation::state::submitted:
      if (asked)
        return false;
      if (!op->pooled_) {
        op->cancelled_ = backend_->withdraw(op);
        return false;
      }
      if (!pool_.cancel(op))
        return false;
      op->pooled_ = false;
      object.pooled.fetch_sub(1, std::memory_order_relaxed);
      break;
    case io_operation::state::queued: break;
  }
  op->fail(ECANCELED);
  return true;
}

io_operation* io_driver::withdraw(io_object& object, io_operation* op, operation_queue& ready,
                                  bool unless_begun) noexcept {
  return withdraws(object, op, unless_begun) ? finish(object, op, ready) : nullptr;
}

/// Those of a queue that `which` says; the next is begun when all of them are out. Object locked.
template <class Predicate>
void io_driver::withdraw_from(io_object& object, io_queue queue, operation_queue& ready,
                              Predicate which) noexcept {
  io_operation_list& list = object.list(queue);
  io_operation* next = nullptr;
  for (io_operation* op = list.front(); op; op = next) {
    next = io_operation_list::after(op);
    if (which(*op) && withdraws(object, op, false))
      remove(list, op, ready);
  }
  if (queue != io_queue::concurrent && !object.closed)
    perform_front(object, queue, ready);
}

void io_driver::withdraw_all(io_object& object, operation_queue& ready) noexcept {
  for (int queue = 0; queue != io_object::queue_count; ++queue)
    withdraw_from(object, static_cast<io_queue>(queue), ready,
                  [](const io_operation&) { return true; });
}

/// Object locked.
void io_driver::withdraw_consumers(stream_source& source, operation_queue& ready) noexcept {
  withdraw_from(source.object(), io_queue::read, ready,
                [&source](io_operation& op) { return source.supplies(op); });
}

void io_driver::cancel(io_object& object) noexcept {
  operation_queue ready;
  {
    const object_lock lock(object.mutex);
    withdraw_all(object, ready);
  }
  scheduler_.complete(ready);
}

void io_driver::cancel_operation(io_operation* op, bool unless_begun) noexcept {
  io_object& object = *op->object_;
  io_driver& self = *object.driver;
  operation_queue ready;
  io_operation* to_pool = nullptr;
  {
    const object_lock lock(object.mutex);
    to_pool = self.withdraw(object, op, ready, unless_begun && op->kind().whole);
  }
  self.complete(ready, to_pool);
}

}  // namespace WEFT_NAMESPACE::detail
