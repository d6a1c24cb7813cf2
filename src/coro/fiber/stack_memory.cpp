// SPDX-License-Identifier: BSL-1.0
#include "coro/fiber/stack_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

namespace WEFT_NAMESPACE::detail {
namespace {

// MADV_GUARD_INSTALL of <asm-generic/mman-common.h>, Linux 6.13.
constexpr int advice_guard_install = 102;

}  // namespace

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::byte* map_stacks(std::size_t bytes) noexcept {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void unmap_stacks(std::byte* memory, std::size_t bytes) noexcept {
  ::munmap(memory, bytes);
}

void discard_stack(std::byte* memory, std::size_t bytes) noexcept {
  ::madvise(memory, bytes, MADV_DONTNEED);
}

bool stack_guards::install(std::byte* page) noexcept {
  if (by_advice_.load(std::memory_order_relaxed)) {
    if (::madvise(page, page_size(), advice_guard_install) == 0)
      return true;
    by_advice_.store(false, std::memory_order_relaxed);
  }
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0 &&
      ::mprotect(page, page_size(), PROT_NONE) == 0)
    return true;
  left_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void stack_guards::uninstalled(std::size_t count) noexcept {
  if (!by_advice_.load(std::memory_order_relaxed))
    left_.fetch_add(static_cast<long>(count), std::memory_order_relaxed);
}

long most_protected_guards() noexcept {
  long mappings = 65530;
  if (std::ifstream file("/proc/sys/vm/max_map_count"); file)
    file >> mappings;
  return mappings / 4;
}

}  // namespace WEFT_NAMESPACE::detail
