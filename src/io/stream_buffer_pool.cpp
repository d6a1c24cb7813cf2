// SPDX-License-Identifier: BSL-1.0
#include "io/stream_buffer_pool.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "io/backend/backend.hpp"

namespace WEFT_NAMESPACE::detail {

stream_buffer_pool::~stream_buffer_pool() {
  for (unsigned id = 0; id != made_; ++id)
    free(lent_[id]);
  while (stream_item* item = spare_) {
    spare_ = item->next;
    free(static_cast<stream_buffer*>(item));
  }
}

void stream_buffer_pool::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  release();
}

void stream_buffer_pool::release() noexcept {
  if (references_.drop())
    delete this;
}

bool stream_buffer_pool::serve(backend& kernel) noexcept {
  const std::lock_guard lock(mutex_);
  if (registered_)
    return true;
  if (!ring_) {
    lent_.reset(new (std::nothrow) stream_buffer*[buffer_ring::entries]);
    if (!lent_)
      return false;
    ring_.emplace();
  }
  if (!ring_->memory())
    return false;
  ring_->clear();
  registered_ = kernel.provide_buffers(*ring_);
  return registered_;
}

void stream_buffer_pool::restart(backend& kernel) noexcept {
  const std::lock_guard lock(mutex_);
  if (!registered_)
    return;
  // A new ring in place of the memory that the parent's kernel knows.
  ring_.emplace();
  available_ = 0;
  registered_ = ring_->memory() != nullptr && kernel.provide_buffers(*ring_);
  for (unsigned id = 0; id != made_ && registered_; ++id)
    if (lent_[id]->offered)
      lend(*lent_[id]);
}

bool stream_buffer_pool::offer() noexcept {
  const std::lock_guard lock(mutex_);
  if (!registered_)
    return false;
  if (available_ != 0)
    return true;
  const unsigned wanted = std::min(std::max(2 * made_, first_buffers), buffer_ring::entries);
  while (made_ != wanted) {
    stream_buffer* buffer = make_buffer(made_);
    if (!buffer)
      break;
    lent_[made_++] = buffer;
    lend(*buffer);
  }
  return available_ != 0;
}

stream_buffer* stream_buffer_pool::filled(unsigned id) noexcept {
  const std::lock_guard lock(mutex_);
  stream_buffer* buffer = lent_[id];
  buffer->offered = false;
  --available_;
  references_.add();
  return buffer;
}

stream_buffer* stream_buffer_pool::take() noexcept {
  const std::lock_guard lock(mutex_);
  stream_buffer* buffer = static_cast<stream_buffer*>(spare_);
  if (buffer) {
    spare_ = buffer->next;
    --spare_count_;
  } else if (!(buffer = make_buffer(stream_buffer::no_id))) {
    return nullptr;
  }
  references_.add();
  return buffer;
}

void stream_buffer_pool::give_back(stream_buffer* buffer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (buffer->id != stream_buffer::no_id) {
      if (registered_ && !closed_)
        lend(*buffer);
    } else if (spare_count_ != max_spare) {
      buffer->next = spare_;
      spare_ = buffer;
      ++spare_count_;
    } else {
      free(buffer);
    }
  }
  release();
}

stream_buffer* stream_buffer_pool::make_buffer(unsigned id) noexcept {
  void* memory = ::operator new(sizeof(stream_buffer) + stream_buffer::capacity, std::nothrow);
  return memory ? ::new (memory) stream_buffer(*this, id) : nullptr;
}

void stream_buffer_pool::lend(stream_buffer& buffer) noexcept {
  buffer.offered = true;
  ++available_;
  ring_->add(buffer.data(), stream_buffer::capacity, buffer.id);
}

void stream_buffer_pool::free(stream_buffer* buffer) noexcept {
  buffer->~stream_buffer();
  ::operator delete(buffer);
}

void give_back(stream_buffer* buffer) noexcept {
  buffer->pool->give_back(buffer);
}

}  // namespace WEFT_NAMESPACE::detail
