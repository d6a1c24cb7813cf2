// SPDX-License-Identifier: BSL-1.0
#include <weft/base/config.hpp>

#include "io/backend/uring/buffer_ring.hpp"

#include <liburing.h>
#include <sys/mman.h>

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr std::size_t ring_size = buffer_ring::entries * sizeof(io_uring_buf);

io_uring_buf_ring* native(void* memory) noexcept {
  return static_cast<io_uring_buf_ring*>(memory);
}

}  // namespace

buffer_ring::buffer_ring() noexcept
    : memory_(
          ::mmap(nullptr, ring_size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0)) {
  if (memory_ == MAP_FAILED)
    memory_ = nullptr;
}

buffer_ring::~buffer_ring() {
  if (memory_)
    ::munmap(memory_, ring_size);
}

void buffer_ring::clear() noexcept {
  io_uring_buf_ring_init(native(memory_));
}

void buffer_ring::add(void* data, std::size_t size, unsigned id) noexcept {
  io_uring_buf_ring* ring = native(memory_);
  io_uring_buf_ring_add(ring, data, static_cast<unsigned>(size), static_cast<unsigned short>(id),
                        io_uring_buf_ring_mask(entries), 0);
  io_uring_buf_ring_advance(ring, 1);
}

}  // namespace WEFT_NAMESPACE::detail
