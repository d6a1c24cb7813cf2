// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/reference_count.hpp>
#include <weft/io/op/stream.hpp>

namespace WEFT_NAMESPACE::detail {

/// Takes bytes or connections for a stream and keeps them until its consumers ask.
///
/// A consumer is an operation of the object's read queue like any other: so order, cancellation and
/// closing are those of a plain read. What differs is where its `perform` looks:
///   1. at the items taken ahead; 2. at a failure found behind them, reported once, to one
///   consumer;
///   3. if nothing is being taken, it makes the system call itself, provided that this is its
///      `direct` turn: on epoll always; on io_uring when it was not possible to let the kernel take
///      ahead (all buffers are owned, say). Nothing is in flight then, so the order is kept.
///
/// On io_uring the source itself is one multishot operation in the object's concurrent queue, begun
/// when the first consumer in the queue finds nothing (io_driver::supplied). It counts as no work
/// and is never queued with the scheduler: each of its completions is an item, after which the
/// driver tries the consumers (io_driver::fed). After the last completion, whatever its reason (the
/// backlog was long enough and the driver withdrew it; cancel; no buffers; the end of the stream;
/// the thread that submitted it exited), it rests, until a consumer again finds nothing.
///
/// Life: counted references, of the stream, of each consumer, and of the kernel while it has it.
///
/// Guarded by the object's lock: everything but what is const or atomic.
class stream_source : public io_operation {
 public:
  stream_source(const stream_source&) = delete;
  stream_source& operator=(const stream_source&) = delete;

  void push(stream_item* item) noexcept {
    item->next = nullptr;
    (front_ ? back_->next : front_) = item;
    back_ = item;
    ++backlog_;
  }
  stream_item* pop() noexcept {
    stream_item* item = front_;
    if (item) {
      front_ = item->next;
      --backlog_;
    }
    return item;
  }
  /// Whether, after a new item, it is time to pause. Again each time `limit` more have come, in
  /// case the kernel did not hear of it.
  bool is_full() const noexcept { return backlog_ != 0 && backlog_ % limit_ == 0; }

  /// What a consumer with nothing to take does now: `done` with an error, `again` to wait, or
  /// `drained`: it makes the system call itself.
  io_status when_empty(io_operation& consumer, bool direct) noexcept;

  bool is_taking() const noexcept { return state_ == state::submitted; }
  /// Whether a consumer can only wait for what is being taken.
  bool brings_nothing() const noexcept { return is_taking() && !front_ && !failure; }
  /// Whether `op` waits for items of this source.
  bool supplies(io_operation& op) const noexcept {
    return op.kind().consumer && op.kind().consumer(op).source.get() == this;
  }
  /// Whether the object still serves the descriptor for which the stream was made.
  bool is_current() const noexcept;
  io_object& object() const noexcept { return *object_; }
  io_driver& driver() const noexcept { return driver_; }

  error_code failure;    // found behind the last item
  bool stopped = false;  // nothing more is to be taken
  bool ahead = false;    // io_uring takes ahead

 protected:
  stream_source(io_handle& io, const io_kind& kind, std::size_t limit) noexcept;
  ~stream_source() = default;

 private:
  friend void retain(stream_source&) noexcept;
  friend void release(stream_source&) noexcept;

  static void never(operation*, action) {}

  io_driver& driver_;
  const std::size_t limit_;
  const unsigned openings_;
  stream_item* front_ = nullptr;
  stream_item* back_ = nullptr;
  std::size_t backlog_ = 0;
  reference_count references_;
};

/// Makes sources; they are born with one reference. Throw std::bad_alloc.
stream_source* make_receive_source(io_handle& socket, std::size_t limit, receive_mode mode);
stream_source* make_accept_source(io_handle& acceptor, std::size_t limit, bool report_aborted);

}  // namespace WEFT_NAMESPACE::detail
