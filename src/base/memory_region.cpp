// SPDX-License-Identifier: BSL-1.0
#include "base/memory_region.hpp"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace WEFT_NAMESPACE::detail {

void memory_region_pool::list::push_front(memory_region& region) noexcept {
  region.previous = nullptr;
  region.next = first_;
  if (first_)
    first_->previous = &region;
  first_ = &region;
}

void memory_region_pool::list::erase(memory_region& region) noexcept {
  (region.previous ? region.previous->next : first_) = region.next;
  if (region.next)
    region.next->previous = region.previous;
}

memory_region* memory_region_pool::map() noexcept {
  constexpr std::size_t extent = memory_region::extent;
  const auto map_bytes = [](std::size_t size) {
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  const auto misplaced = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % extent; };
  void* memory = map_bytes(extent);
  if (memory != MAP_FAILED && misplaced(memory) != 0) {
    ::munmap(memory, extent);
    memory = map_bytes(2 * extent);
    if (memory != MAP_FAILED) {
      const std::size_t before = (extent - misplaced(memory)) % extent;
      char* const aligned = static_cast<char*>(memory) + before;
      if (before != 0)
        ::munmap(memory, before);
      ::munmap(aligned + extent, extent - before);
      memory = aligned;
    }
  }
  if (memory == MAP_FAILED)
    return nullptr;
  if (mapped_ >= small_program)
    ::madvise(memory, extent, MADV_HUGEPAGE);
  mapped_ += extent;
  return ::new (memory) memory_region;
}

void memory_region_pool::unmap(memory_region* region) noexcept {
  ::munmap(region, memory_region::extent);
}

memory_span* memory_region_pool::take(unsigned index) noexcept {
  const std::lock_guard lock(mutex_);
  memory_region* region = used_.front();
  if (!region) {
    region = reserve_.front();
    if (region) {
      reserve_.erase(*region);
      reserved_ -= memory_region::extent;
    } else {
      region = map();
      if (!region)
        return nullptr;
    }
    used_.push_front(*region);
  }
  const auto n = static_cast<std::size_t>(std::countr_zero(region->free));
  region->free &= region->free - 1;
  if (region->free == 0)
    used_.erase(*region);
  ++spans_;
  char* const memory = reinterpret_cast<char*>(region) + n * memory_span::extent;
  return ::new (memory + memory_span::offset) memory_span(index);
}

memory_region* memory_region_pool::give(memory_span& span) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&span);
  const std::size_t n = address % memory_region::extent / memory_span::extent;
  auto* region = reinterpret_cast<memory_region*>(address & ~(memory_region::extent - 1));
  const std::lock_guard lock(mutex_);
  --spans_;
  if (region->free == 0)
    used_.push_front(*region);
  region->free |= std::uint32_t{1} << n;
  if (region->free != memory_region::all_free)
    return nullptr;
  used_.erase(*region);
  if (reserved_ < max_reserve) {
    reserved_ += memory_region::extent;
    reserve_.push_front(*region);
    return nullptr;
  }
  mapped_ -= memory_region::extent;
  return region;
}

thread_memory::statistics memory_region_pool::read_statistics() noexcept {
  const std::lock_guard lock(mutex_);
  return {mapped_, reserved_, spans_ * memory_span::extent};
}

}  // namespace WEFT_NAMESPACE::detail
