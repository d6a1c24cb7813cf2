// SPDX-License-Identifier: BSL-1.0
#include <weft/base/task_record.hpp>

#include <pthread.h>

#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "base/fork_order.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

constexpr std::uint32_t batch = task_chunk::most;

/// The slots that no thread has. The mutex guards all.
struct task_store {
  std::mutex mutex;
  task_slot* batches = nullptr;  // the first of each
  task_slot* single = nullptr;   // of threads that have exited
  std::uint64_t threads = 0;     // that have been numbered
};

constinit task_store central;
static_assert(std::is_trivially_destructible_v<task_store>);

void unlock_after_fork() noexcept {
  central.mutex.unlock();
  task_slots::gate.unlock();
}

// In any order with those of memory_store: neither's mutexes are held where the other's are taken.
[[gnu::constructor(fork_memory)]] void hold_around_forks() noexcept {
  ::pthread_atfork(
      [] {
        task_slots::gate.lock();
        central.mutex.lock();
      },
      &unlock_after_fork, &unlock_after_fork);
}

void give_batch(task_slot* first) noexcept {
  const std::lock_guard guard(central.mutex);
  first->below = std::exchange(central.batches, first);
}

void give_single(task_slot* slot) noexcept {
  const std::lock_guard guard(central.mutex);
  slot->next = std::exchange(central.single, slot);
}

/// The tasks of the calling thread are numbered from there.
std::uint64_t first_id() noexcept {
  const std::lock_guard guard(central.mutex);
  return central.threads++ << 40;
}

/// A new batch; null if there is no memory.
task_slot* make_batch() noexcept {
  if (!asymmetric_barrier_available())
    task_slots::gate.close_for_good();
  auto& chunks = task_slots::chunks;
  auto* const chunk = new (std::nothrow) task_chunk;
  if (!chunk)
    return nullptr;
  for (std::uint32_t i = 1; i != batch; ++i)
    chunk->slots[i - 1].next = &chunk->slots[i];
  chunk->next = chunks.load(std::memory_order_relaxed);
  while (!chunks.compare_exchange_weak(chunk->next, chunk, std::memory_order_release,
                                       std::memory_order_relaxed)) {}
  return chunk->slots;
}

/// A list of slots, and how many.
struct taken_slots {
  task_slot* first;
  std::uint32_t size;
};

taken_slots take_slots(std::uint32_t most) noexcept {
  std::unique_lock lock(central.mutex);
  if (task_slot* const first = central.batches; first && most == batch) {
    central.batches = first->below;
    return {first, batch};
  }
  taken_slots taken{nullptr, 0};
  for (; taken.size != most && central.single; ++taken.size) {
    task_slot* const slot = central.single;
    central.single = slot->next;
    slot->next = std::exchange(taken.first, slot);
  }
  lock.unlock();
  if (taken.first)
    return taken;
  task_slot* const made = make_batch();
  if (!made || most == batch)
    return {made, made ? batch : 0};
  while (task_slot* const other = made->next) {
    made->next = other->next;
    give_single(other);
  }
  return {made, 1};
}

enum class state : unsigned char { fresh, active, exited };

constinit thread_local state current = state::fresh;

}  // namespace

constinit std::atomic<bool> task_slots::recorded{true};
constinit std::atomic<task_chunk*> task_slots::chunks{nullptr};
constinit basic_task_gate<task_atomics> task_slots::gate;
constinit thread_local thread_task_slots task_slots::own;
static_assert(std::is_trivially_destructible_v<basic_task_gate<task_atomics>>);

/// Once armed, gives back a thread's slots when it exits, and from the beginning of its life its
/// lists are open.
struct task_slots::give_back {
  static bool activate() noexcept {
    static thread_local const give_back at_thread_exit;
    (void)at_thread_exit;
    return current == state::active;
  }

  give_back() noexcept {
    current = state::active;
    own.room = batch;
    own.last_id = first_id();
  }
  ~give_back() {
    current = state::exited;
    own.room = 0;
    for (task_slot* list :
         {std::exchange(own.first, nullptr), std::exchange(own.previous, nullptr)})
      while (list)
        give_single(std::exchange(list, list->next));
  }
};

task_slot* task_slots::take_slowly() noexcept {
  const bool has_lists =
      current == state::active || (current == state::fresh && give_back::activate());
  task_slot* slot;
  if (has_lists && own.previous) {
    slot = std::exchange(own.previous, nullptr);
    own.room = 0;
  } else {
    if (own.last_id == 0 && !has_lists)
      own.last_id = first_id();
    const taken_slots taken = take_slots(has_lists ? batch : 1);
    slot = taken.first;
    if (!slot || !has_lists)
      return slot;
    own.room = batch - taken.size;
  }
  own.first = slot->next;
  ++own.room;
  return slot;
}

void task_slots::give_slowly(task_slot* slot) noexcept {
  if (current == state::active) {
    if (own.previous)
      give_batch(own.previous);
    own.previous = std::exchange(own.first, nullptr);
  } else if (current == state::exited || !give_back::activate()) {
    return give_single(slot);
  }
  slot->next = nullptr;
  own.first = slot;
  own.room = batch - 1;
}

bool task_slots::read(void (*f)(void* argument, std::span<const task_slot>), void* argument) {
  for (const task_chunk* chunk = chunks.load(std::memory_order_acquire); chunk; chunk = chunk->next)
    if (!gate.read([&] { f(argument, std::span(chunk->slots, chunk->size)); }))
      return false;
  return true;
}

}  // namespace WEFT_NAMESPACE::detail
