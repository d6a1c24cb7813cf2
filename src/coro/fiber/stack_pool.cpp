// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/stack_pool.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "base/atomic_max.hpp"
#include "base/fork_order.hpp"
#include "base/never_destroyed.hpp"
#include "coro/fiber/overflow.hpp"
#include "coro/fiber/stack_depot.hpp"

namespace WEFT_NAMESPACE {
namespace detail {
namespace {

// Usable bytes are powers of two. With the guard page below, stacks lie an odd number of pages
// apart: so their tops are spread over all sets of the TLB.
constexpr unsigned smallest = 14;  // 16 KiB
constexpr unsigned class_count = 10;
// Larger than all classes: mapped for itself, and with a guard or without.
constexpr std::uint32_t own_guarded = class_count, own_unguarded = class_count + 1;

constexpr std::size_t usable(unsigned size_class) noexcept {
  return std::size_t{1} << (smallest + size_class);
}

unsigned class_of(std::size_t size) noexcept {
  const auto bits = static_cast<unsigned>(std::bit_width(std::max<std::size_t>(size, 1) - 1));
  return bits <= smallest ? 0 : std::min(bits - smallest, class_count);
}

/// How many stacks of a class a thread keeps at most.
constexpr unsigned room(unsigned size_class) noexcept {
  constexpr unsigned most = 16;
  return static_cast<unsigned>(
      std::clamp<std::size_t>((std::size_t{1} << 20) / usable(size_class), 2, most));
}

struct central_stacks {
  stack_guards guards;
  stack_depot depots[class_count] = {{usable(0), guards}, {usable(1), guards}, {usable(2), guards},
                                     {usable(3), guards}, {usable(4), guards}, {usable(5), guards},
                                     {usable(6), guards}, {usable(7), guards}, {usable(8), guards},
                                     {usable(9), guards}};

  std::mutex mutex;
  struct thread_stacks* threads = nullptr;
  std::atomic<std::size_t> own_bytes{0};
  std::atomic<std::size_t> own_stacks{0};
  std::atomic<std::size_t> own_high_water{0};
  std::atomic<std::size_t> own_without_guard{0};
};

void lock_for_fork() noexcept;
void unlock_after_fork() noexcept;
void begin_in_child() noexcept;

central_stacks& central() noexcept {
  static never_destroyed<central_stacks> all;
  return all.object;
}

[[gnu::constructor(fork_locks)]] void hold_around_forks() noexcept {
  ::pthread_atfork(&lock_for_fork, &unlock_after_fork, &begin_in_child);
}

/// The stacks that a thread keeps. `count` is written by the thread only, and read by statistics;
/// and by the child of a fork, which takes over the stacks of threads that it does not have: so
/// many of the first are the thread's at any moment. (Those on the way to or from a depot are lost
/// to the child.)
struct thread_stacks {
  enum class state : unsigned char { fresh, active, exited };
  struct list {
    std::byte* stacks[room(0)];
    std::atomic<unsigned> count;
  };

  list lists[class_count];
  thread_stacks* next;
  state now;

  bool is_active() noexcept { return now == state::active || (now == state::fresh && activate()); }
  bool activate() noexcept;
  void exit() noexcept;
};

constinit thread_local thread_stacks own{};

struct give_back {
  ~give_back() { own.exit(); }
};

[[gnu::noinline]] bool thread_stacks::activate() noexcept {
  static thread_local const give_back at_thread_exit;
  (void)at_thread_exit;
  central_stacks& all = central();
  const std::lock_guard lock(all.mutex);
  next = std::exchange(all.threads, this);
  now = state::active;
  return true;
}

void thread_stacks::exit() noexcept {
  now = state::exited;
  central_stacks& all = central();
  {
    const std::lock_guard lock(all.mutex);
    thread_stacks** at = &all.threads;
    while (*at != this)
      at = &(*at)->next;
    *at = next;
  }
  for (unsigned c = 0; c != class_count; ++c)
    if (const unsigned n = lists[c].count.exchange(0, std::memory_order_relaxed))
      all.depots[c].give(lists[c].stacks, n);
}

std::byte* take_of_class(unsigned size_class) {
  if (!own.is_active()) {
    std::byte* stack;
    central().depots[size_class].take(&stack, 1);
    return stack;
  }
  thread_stacks::list& list = own.lists[size_class];
  unsigned n = list.count.load(std::memory_order_relaxed);
  if (n == 0)
    n = static_cast<unsigned>(
        central().depots[size_class].take(list.stacks, std::max(1U, room(size_class) / 2)));
  list.count.store(--n, std::memory_order_relaxed);
  return list.stacks[n];
}

void give_to_class(unsigned size_class, std::byte* stack) noexcept {
  if (!own.is_active()) {
    central().depots[size_class].give(&stack, 1);
    return;
  }
  thread_stacks::list& list = own.lists[size_class];
  unsigned n = list.count.load(std::memory_order_relaxed);
  if (n == room(size_class)) {  // those that were kept for longest go
    const unsigned half = n / 2;
    list.count.store(0, std::memory_order_relaxed);
    central().depots[size_class].give(list.stacks, half);
    std::copy(list.stacks + half, list.stacks + n, list.stacks);
    n -= half;
  }
  list.stacks[n] = stack;
  list.count.store(n + 1, std::memory_order_release);
}

// ---- fork

void lock_for_fork() noexcept {
  central_stacks& all = central();
  all.mutex.lock();
  for (stack_depot& depot : all.depots)
    depot.lock();
}

void unlock_after_fork() noexcept {
  central_stacks& all = central();
  for (stack_depot& depot : all.depots)
    depot.unlock();
  all.mutex.unlock();
}

void begin_in_child() noexcept {
  central_stacks& all = central();
  thread_stacks* thread = std::exchange(all.threads, nullptr);
  unlock_after_fork();
  while (thread) {
    thread_stacks* const next_thread = thread->next;
    if (thread == &own) {
      own.next = std::exchange(all.threads, &own);
    } else {
      for (unsigned c = 0; c != class_count; ++c)
        all.depots[c].give(thread->lists[c].stacks,
                           thread->lists[c].count.load(std::memory_order_relaxed));
    }
    thread = next_thread;
  }
}

stack_context map_own(std::size_t size) {
  const std::size_t page = page_size(), bytes = (size + page - 1) & ~(page - 1);
  std::byte* const memory = map_stacks(page + bytes);
  if (!memory)
    throw std::bad_alloc();
  central_stacks& all = central();
  const bool is_guarded = all.guards.install(memory);
  const std::size_t stacks = all.own_stacks.fetch_add(1, std::memory_order_relaxed) + 1;
  raise_to(all.own_high_water, stacks);
  all.own_bytes.fetch_add(page + bytes, std::memory_order_relaxed);
  all.own_without_guard.fetch_add(!is_guarded, std::memory_order_relaxed);
  return {memory + page + bytes, bytes, is_guarded ? own_guarded : own_unguarded};
}

void unmap_own(std::byte* stack, const stack_context& context) noexcept {
  const bool is_guarded = context.size_class == own_guarded;
  const std::size_t page = page_size();
  unmap_stacks(stack - page, page + context.size);
  central_stacks& all = central();
  all.guards.uninstalled(is_guarded);
  all.own_stacks.fetch_sub(1, std::memory_order_relaxed);
  all.own_bytes.fetch_sub(page + context.size, std::memory_order_relaxed);
  all.own_without_guard.fetch_sub(!is_guarded, std::memory_order_relaxed);
}

}  // namespace
}  // namespace detail

using namespace detail;

// The beginning of a stack lies at one of 32 places in its highest page: so the stacks of many
// fibers, all as deep, do not fight for the same sets of the caches.
stack_context stack_pool::take(std::size_t size) {
  constexpr std::size_t colours = 32, line = 64;
  const unsigned size_class = class_of(size);
  if (size_class == own_guarded)
    return map_own(size);
  std::byte* const stack = take_of_class(size_class);
  const std::size_t page = reinterpret_cast<std::uintptr_t>(stack) >> std::countr_zero(page_size());
  const std::size_t colour = page % colours;
  const std::size_t left = usable(size_class) - colour * line;
  return {stack + left, left, size_class};
}

void stack_pool::give(stack_context& stack) noexcept {
  auto* const memory = static_cast<std::byte*>(stack.sp) - stack.size;
  if (stack.size_class < class_count)
    give_to_class(stack.size_class, memory);
  else
    unmap_own(memory, stack);
}

stack_pool::statistics stack_pool::read_statistics() noexcept {
  central_stacks& all = central();
  statistics result{};
  result.in_use = all.own_stacks.load(std::memory_order_relaxed);
  result.high_water = all.own_high_water.load(std::memory_order_relaxed);
  result.unguarded = all.own_without_guard.load(std::memory_order_relaxed);
  result.bytes = all.own_bytes.load(std::memory_order_relaxed);
  std::size_t kept = 0;
  {
    const std::lock_guard lock(all.mutex);
    for (const thread_stacks* thread = all.threads; thread; thread = thread->next)
      for (const thread_stacks::list& list : thread->lists)
        kept += list.count.load(std::memory_order_relaxed);
  }
  for (const stack_depot& depot : all.depots) {
    const stack_depot::counts counts = depot.read();
    result.in_use += counts.out;
    result.high_water += counts.high_water;
    result.cached += counts.with_memory;
    result.unguarded += counts.unguarded;
    result.bytes += counts.bytes;
  }
  result.in_use -= std::min(kept, result.in_use);  // they may have moved meanwhile
  result.cached += kept;
  return result;
}

void stack_pool::trim() noexcept {
  for (stack_depot& depot : central().depots)
    depot.trim();
}

void stack_pool::report_no_overflow() noexcept {
  ignore_overflow();
}

}  // namespace WEFT_NAMESPACE
