// SPDX-License-Identifier: BSL-1.0
#include "io/backend/uring/fixed_buffers.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cstdint>

#include "io/backend/uring/ring.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr unsigned batch = 64;

/// Replaces `count` entries from the first on by what `entry(i)` is. Returns how many were.
template <class Entry>
unsigned replace(ring& ring, unsigned count, Entry entry) noexcept {
  unsigned done = 0;
  while (done != count) {
    iovec entries[batch];
    const unsigned n = std::min(batch, count - done);
    for (unsigned i = 0; i != n; ++i)
      entries[i] = entry(done + i);
    const unsigned replaced = ring.replace_fixed(done, entries, n);
    done += replaced;
    if (replaced != n)
      break;
  }
  return done;
}

/// Different for every registration of the process, so that a buffer of one that has ended is not
/// taken for one of the next.
const void* new_scope() noexcept {
  static std::atomic<std::uintptr_t> scopes{0};
  return reinterpret_cast<const void*>(scopes.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

const void* fixed_buffers::add(ring& ring, const mutable_buffer* buffers,
                               std::size_t count) noexcept {
  const std::lock_guard lock(mutex_);
  if (scope_.load(std::memory_order_relaxed))
    return nullptr;
  has_table_ = has_table_ || ring.make_fixed_table(capacity);
  if (!has_table_)
    return nullptr;
  const auto wanted = static_cast<unsigned>(std::min<std::size_t>(count, capacity));
  const unsigned added = replace(ring, wanted, [buffers](unsigned i) {
    const mutable_buffer& b = buffers[i];
    return b.size() == 0 ? iovec{} : iovec{b.data(), b.size()};
  });
  if (added == 0)
    return nullptr;
  const void* scope = new_scope();
  count_.store(added, std::memory_order_relaxed);
  scope_.store(scope, std::memory_order_release);
  return scope;
}

void fixed_buffers::remove(ring& ring, const void* scope) noexcept {
  const std::lock_guard lock(mutex_);
  if (scope != scope_.load(std::memory_order_relaxed))
    return;
  scope_.store(nullptr, std::memory_order_relaxed);
  replace(ring, count_.load(std::memory_order_relaxed), [](unsigned) { return iovec{}; });
}

void fixed_buffers::forget() noexcept {
  const std::lock_guard lock(mutex_);
  scope_.store(nullptr, std::memory_order_relaxed);
  has_table_ = false;
}

}  // namespace WEFT_NAMESPACE::detail
