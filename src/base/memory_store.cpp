// SPDX-License-Identifier: BSL-1.0
#include "base/memory_store.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <new>
#include <type_traits>
#include <utility>

#include "base/fork_order.hpp"

namespace WEFT_NAMESPACE::detail {

// Neither constructed nor destroyed at run time: whoever's static objects come first or last.
constinit memory_store central_memory;
static_assert(std::is_trivially_destructible_v<memory_store>);

namespace {

[[gnu::constructor(fork_memory)]] void hold_around_forks() noexcept {
  const auto unlock = [] { central_memory.unlock(); };
  ::pthread_atfork([] { central_memory.lock(); }, unlock, unlock);
}

}  // namespace

memory_batch memory_store::take_batch(unsigned index) {
  const std::uint32_t size = size_class::batch(index);
  const std::uint32_t most = max_depot / (size * size_class::sizes[index]);
  shelf& from = shelves_[index];
  std::unique_lock lock(from.mutex);
  if (stored_batch* const top = from.depot) {
    from.depot = top->below;
    --from.batches;
    return {top, size};
  }
  from.capacity = std::min(2 * from.capacity, most);
  return take(index, size, std::move(lock));
}

void memory_store::give_batch(unsigned index, memory_block* first) noexcept {
  shelf& to = shelves_[index];
  stored_batch* surplus;
  {
    const std::lock_guard lock(to.mutex);
    if (to.batches != to.capacity) {
      memory_block* const second = first->next;
      to.depot = ::new (first) stored_batch{{second}, to.depot};
      ++to.batches;
      return;
    }
    to.capacity = std::max(to.capacity - 1, 1u);
    surplus = take_above(to, to.capacity);
  }
  give(index, surplus);
  give(index, first);
}

memory_block* memory_store::take_block(unsigned index) {
  return take(index, 1, std::unique_lock(shelves_[index].mutex)).first;
}

void memory_store::halve_depot(unsigned index) noexcept {
  shelf& from = shelves_[index];
  stored_batch* taken;
  {
    const std::lock_guard lock(from.mutex);
    taken = take_above(from, from.batches / 2);
  }
  give(index, taken);
}

/// Takes what a depot has above `n` batches, its mutex held.
memory_store::stored_batch* memory_store::take_above(shelf& from, std::uint32_t n) noexcept {
  stored_batch* taken = nullptr;
  for (; from.batches > n; --from.batches) {
    stored_batch* const top = from.depot;
    from.depot = std::exchange(top->below, taken);
    taken = top;
  }
  return taken;
}

void memory_store::give(unsigned index, stored_batch* batches) noexcept {
  while (stored_batch* const one = batches) {
    batches = one->below;
    give(index, static_cast<memory_block*>(one));
  }
}

/// Takes up to `n` blocks, and at least one, from the spans.
memory_batch memory_store::take(unsigned index, std::uint32_t n,
                                std::unique_lock<word_mutex> lock) {
  shelf& from = shelves_[index];
  memory_batch batch;
  memory_block** tail = &batch.first;
  std::uint32_t missing = n;
  while (missing != 0) {
    memory_span* span = from.spans.front();
    if (!span) {
      span = regions_.take(index);
      if (!span)
        break;
      from.spans.push_back(*span);
    }
    tail = span->take(missing, tail);
    if (span->empty())
      from.spans.erase(*span);
  }
  lock.unlock();
  *tail = nullptr;
  batch.size = n - missing;
  if (batch.size == 0)
    throw std::bad_alloc();
  return batch;
}

void memory_store::give(unsigned index, memory_block* first) noexcept {
  // What takes long is to walk through the list: that is done before the mutex is taken.
  constexpr std::size_t most = 16;
  while (first) {
    std::array<memory_span_part, most> parts;
    std::size_t n = 0;
    while (first && n != most)
      parts[n++] = memory_span_part::take(first);
    give(index, std::span(parts).first(n));
  }
}

void memory_store::give(unsigned index, std::span<const memory_span_part> parts) noexcept {
  shelf& to = shelves_[index];
  memory_region* surplus = nullptr;
  {
    const std::lock_guard lock(to.mutex);
    for (const memory_span_part& part : parts) {
      memory_span& span = *part.span;
      assert(span.index() == index && "freed with another size than it was allocated with");
      if (span.empty())
        to.spans.push_back(span);
      span.give(part);
      if (!span.whole())
        continue;
      to.spans.erase(span);
      if (memory_region* region = regions_.give(span)) {
        region->next = surplus;
        surplus = region;
      }
    }
  }
  while (memory_region* region = surplus) {
    surplus = region->next;
    memory_region_pool::unmap(region);
  }
}

void memory_store::lock() noexcept {
  for (shelf& each : shelves_)
    each.mutex.lock();
  regions_.mutex().lock();
}

void memory_store::unlock() noexcept {
  regions_.mutex().unlock();
  for (shelf& each : shelves_)
    each.mutex.unlock();
}

}  // namespace WEFT_NAMESPACE::detail
