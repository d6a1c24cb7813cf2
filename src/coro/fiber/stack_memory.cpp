// SPDX-License-Identifier: BSL-1.0
#include "coro/fiber/stack_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace WEFT_NAMESPACE::detail {
namespace {

// MADV_GUARD_INSTALL of <asm-generic/mman-common.h>, Linux 6.13.
constexpr int advice_guard_install = 102;

/// A quarter of the mappings that the process may have.
long most_protected_guards() noexcept {
  long mappings = 65530;
  if (std::ifstream file("/proc/sys/vm/max_map_count"); file)
    file >> mappings;
  return mappings / 4;
}

}  // namespace

std::size_t page_size() noexcept {
  constinit static std::atomic<std::size_t> known{0};
  std::size_t size = known.load(std::memory_order_relaxed);
  if (size == 0) [[unlikely]] {
    size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    known.store(size, std::memory_order_relaxed);
  }
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
    if (::madvise(page, page_size(), advice_guard_install) == 0) {
      advised_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    if (errno == ENOMEM || errno == EAGAIN || errno == EINTR)  // not now
      return false;
    by_advice_.store(false, std::memory_order_relaxed);
  }
  if (long left = left_.load(std::memory_order_relaxed); left == unread)
    left_.compare_exchange_strong(left, most_protected_guards(), std::memory_order_relaxed);
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0 &&
      ::mprotect(page, page_size(), PROT_NONE) == 0)
    return true;
  left_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void stack_guards::uninstalled(std::size_t count) noexcept {
  // Which they were is not known: if there are both, those by advice count first, so that there are
  // never more by protection than there may be.
  const long n = static_cast<long>(count);
  long advised = advised_.load(std::memory_order_relaxed);
  while (!advised_.compare_exchange_weak(advised, advised - std::min(advised, n),
                                         std::memory_order_relaxed)) {}
  left_.fetch_add(n - std::min(advised, n), std::memory_order_relaxed);
}

}  // namespace WEFT_NAMESPACE::detail
