// SPDX-License-Identifier: BSL-1.0
#include "io/io_driver.hpp"
#include "io/stream_source.hpp"

// What the kernel takes ahead for a stream, and who waits for it.

namespace WEFT_NAMESPACE::detail {

/// Whether the consumer, which is the next of its queue and has found nothing, gets what a source
/// takes ahead; the source is begun if it rests. False: the consumer makes the call itself once the
/// descriptor is ready. Object locked.
bool io_driver::supplied(io_object& object, io_operation* op) noexcept {
  stream_consumer& consumer = op->kind().consumer(*op);
  stream_source& source = *consumer.source.get();
  consumer.direct = false;
  if (source.is_taking())
    return true;
  const io_kind& kind = source.kind();
  if (source.ahead && !source.stopped && (!kind.offer || kind.offer(source))) {
    source.fd = op->fd;
    if (backend_->submit(object, &source) == submitted_to::kernel) {
      retain(source);
      source.state_ = io_operation::state::submitted;
      object.count_submitted(1);
      object.list(io_queue::concurrent).push_back(&source);
      return true;
    }
  }
  consumer.direct = true;
  return false;
}

/// The kernel has taken something for a source, or has ended doing so.
void io_driver::fed(stream_source& source, io_answer answer, operation_queue& ready) noexcept {
  io_object& object = source.object();
  bool more = false;
  {
    const object_lock lock(object.mutex);
    more = source.kind().feed(source, answer);
    if (!more) {
      object.count_submitted(-1);
      object.list(io_queue::concurrent).erase(&source);
      source.state_ = io_operation::state::fresh;
      source.cancelled_ = false;
    }
    if (!object.closed)
      perform_front(object, io_queue::read, ready);
    if (more && source.is_full()) {
      source.cancelled_ = backend_->withdraw(&source);
    }
  }
  if (!more)
    detail::release(source);
}

void io_driver::cancel(stream_source& source) noexcept {
  operation_queue ready;
  {
    const object_lock lock(source.object().mutex);
    withdraw_consumers(source, ready);
  }
  scheduler_.complete(ready);
}

void io_driver::stop(stream_source& source) noexcept {
  io_object& object = source.object();
  operation_queue ready;
  bool taking = false;
  {
    const object_lock lock(object.mutex);
    source.stopped = true;
    taking = source.is_taking();
    if (taking)
      withdraw(object, &source, ready);
  }
  if (taking)
    backend_->settle(object, &source);
  {
    const object_lock lock(object.mutex);
    withdraw_consumers(source, ready);
  }
  scheduler_.complete(ready);
}

}  // namespace WEFT_NAMESPACE::detail
