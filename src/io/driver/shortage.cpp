// SPDX-License-Identifier: BSL-1.0
#include "io/io_driver.hpp"

// Operations that make descriptors, while there are none.

namespace WEFT_NAMESPACE::detail {

void io_driver::note_shortage(io_object& object, const io_operation& op) noexcept {
  const error_code ec = op.ec;
  const int error = ec.category() == system_category() ? ec.value() : 0;
  object.shortage = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  object.shortage_closes = closes_.load();
}

/// Whether an operation that is next in its queue has to wait for a descriptor, or until it is
/// tried again. Object locked.
bool io_driver::must_wait(io_object& object, const io_operation& op) noexcept {
  if (!op.kind().makes_descriptor)
    return op.later_ && object.held_until != 0;
  if (object.held_until != 0)
    return true;
  if (!object.shortage)
    return false;
  object.shortage = false;
  add_held(object);
  if (closes_.load() != object.shortage_closes)
    return false;
  object.held_until = steady_now() + shortage_pause;
  backend_->wake();  // it may sleep for longer
  return true;
}

/// The front of one of the object's queues is to be tried again after a while. Object locked.
void io_driver::try_later(io_object& object) noexcept {
  object.held_until = steady_now() + shortage_tick;
  object.shortage_closes = closes_.load();
  add_held(object);
  if (!scheduler_.alone())
    backend_->wake();  // the poller may sleep for longer
}

void io_driver::add_held(io_object& object) noexcept {
  if (object.in_held_list)
    return;
  object.in_held_list = true;
  const std::lock_guard lock(held_mutex_);
  object.next_held = std::exchange(held_list_, &object);
  held_.store(true);
}

void io_driver::descriptor_closed() noexcept {
  closes_.fetch_add(1);
  if (held_.load())
    backend_->wake();
}

void io_driver::end_held(operation_queue& ready) noexcept {
  io_object* object = nullptr;
  {
    const std::lock_guard lock(held_mutex_);
    object = std::exchange(held_list_, nullptr);
    held_.store(false);
  }
  const std::int64_t now = steady_now();
  while (object) {
    const object_lock lock(object->mutex);
    io_object& self = *object;
    object = self.next_held;
    self.in_held_list = false;
    if (self.held_until == 0)
      continue;
    if (self.held_until > now && closes_.load() == self.shortage_closes) {
      add_held(self);
    } else {
      self.held_until = 0;
      submit_front(self, io_queue::read, ready);
      submit_front(self, io_queue::write, ready);
    }
  }
}

}  // namespace WEFT_NAMESPACE::detail
