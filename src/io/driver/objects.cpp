// SPDX-License-Identifier: BSL-1.0
#include <new>
#include <utility>

#include "io/io_driver.hpp"

// What a driver knows of the objects that its operations are performed on.

namespace WEFT_NAMESPACE::detail {

io_object* io_driver::make_object() noexcept {
  const std::lock_guard lock(mutex_);
  if (!spare_ && !add_block())
    return nullptr;
  return std::exchange(spare_, spare_->next_spare);
}

void io_driver::recycle(io_object* object) noexcept {
  const std::lock_guard lock(mutex_);
  object->next_spare = std::exchange(spare_, object);
}

/// mutex_ locked.
bool io_driver::add_block() noexcept {
  auto* const block = new (std::nothrow) io_object_block;
  if (!block)
    return false;
  block->next = std::exchange(blocks_, block);
  for (io_object& object : block->objects) {
    object.driver = this;
    object.next_spare = std::exchange(spare_, &object);
  }
  return true;
}

error_code io_driver::open(io_object& object, int fd, bool pollable) noexcept {
  const object_lock lock(object.mutex);
  if (!object.closed || object.closing.load(std::memory_order_relaxed))
    return make_error_code(error::already_open);
  object.closed = false;
  object.fd.store(fd, std::memory_order_relaxed);
  object.flags.store(0, std::memory_order_relaxed);
  object.pollable = pollable;
  object.misses = 0;
  object.hangup = false;
  object.shortage = false;
  object.zero_copy_sends = 0;
  object.openings.fetch_add(1, std::memory_order_relaxed);
  backend_->attach(object);
  open_objects_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

int io_driver::release(io_object& object) noexcept {
  operation_queue ready;
  const int fd = release(object, ready);
  scheduler_.complete(ready);
  return fd;
}

int io_driver::release(io_object& object, operation_queue& ready) noexcept {
  std::unique_lock lock(object.mutex);
  if (object.closed) {
    lock.unlock();
    object.closing.wait(true, std::memory_order_acquire);  // another thread is at it
    return -1;
  }
  object.closed = true;
  object.closing.store(true, std::memory_order_relaxed);
  object.held_until = 0;
  withdraw_all(object, ready);
  if (object.submitted.load(std::memory_order_relaxed) != 0) {
    lock.unlock();
    backend_->settle(object, nullptr);
    lock.lock();
  }
  if (object.pooled.load(std::memory_order_relaxed) != 0) {
    lock.unlock();
    await_helpers(object);
    lock.lock();
  }
  int fd = -1;
  if (&object != &anonymous_) {
    backend_->detach(object);
    open_objects_.fetch_sub(1, std::memory_order_relaxed);
    fd = object.fd.exchange(-1, std::memory_order_relaxed);
  }
  object.closing.store(false, std::memory_order_release);
  object.closing.notify_all();
  return fd;
}

}  // namespace WEFT_NAMESPACE::detail
