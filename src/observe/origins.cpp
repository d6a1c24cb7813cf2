// SPDX-License-Identifier: BSL-1.0
#include "observe/origins.hpp"

#include <execinfo.h>
#include <pthread.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include <weft/base/operation_origin.hpp>

#include "base/fork_order.hpp"
#include "base/never_destroyed.hpp"

namespace WEFT_NAMESPACE::observe {
namespace {

struct stack {
  std::array<void*, 32> frames{};
  int count = 0;

  friend bool operator==(const stack&, const stack&) = default;
};

struct stack_hash {
  std::size_t operator()(const stack& s) const noexcept {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a, by words
    for (const void* frame : s.frames)
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(frame)) * 1099511628211u;
    return static_cast<std::size_t>(hash);
  }
};

/// Everything that is remembered.
class memory {
 public:
  static memory& get() noexcept {
    static detail::never_destroyed<memory> all;
    return all.object;
  }

  void note(const detail::operation* op) noexcept {
    stack s;
    s.count = ::backtrace(s.frames.data(), static_cast<int>(s.frames.size()));
    shard& mine = shard_of(op);
    const std::lock_guard lock(mine.mutex);
    try {
      mine.origins[op] = keep(s);
    } catch (const std::bad_alloc&) {
      mine.origins.erase(op);
    }
  }

  const void* find(const detail::operation* op) noexcept {
    shard& mine = shard_of(op);
    const std::lock_guard lock(mine.mutex);
    const auto found = mine.origins.find(op);
    return found == mine.origins.end() ? nullptr : found->second;
  }

  /// Around a fork.
  void lock() noexcept {
    for (shard& s : shards_)
      s.mutex.lock();
    stacks_mutex_.lock();
  }

  void unlock() noexcept {
    stacks_mutex_.unlock();
    for (shard& s : shards_)
      s.mutex.unlock();
  }

  void forget() noexcept {
    for (shard& s : shards_) {
      const std::lock_guard lock(s.mutex);
      s.origins.clear();
    }
  }

 private:
  struct shard {
    std::mutex mutex;
    std::unordered_map<const void*, const stack*> origins;
  };

  shard& shard_of(const void* op) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(op);
    return shards_[(address >> 6 ^ address >> 12) % shards_.size()];
  }

  const stack* keep(const stack& s) {
    const std::lock_guard lock(stacks_mutex_);
    return &*stacks_.insert(s).first;
  }

  std::array<shard, 16> shards_;
  std::mutex stacks_mutex_;  // taken after a shard's
  std::unordered_set<stack, stack_hash> stacks_;
};

constexpr detail::origin_hooks hooks{
    .note = [](const detail::operation* op) noexcept { memory::get().note(op); },
    .find = [](const detail::operation* op) noexcept { return memory::get().find(op); }};

constinit std::mutex users_mutex;
constinit unsigned users = 0;

void unlock_after_fork() noexcept {
  memory::get().unlock();
  users_mutex.unlock();
}

[[gnu::constructor(detail::fork_locks)]] void hold_around_forks() noexcept {
  ::pthread_atfork(
      [] {
        users_mutex.lock();
        memory::get().lock();
      },
      &unlock_after_fork,
      [] {  // whose users' threads are in the parent
        users = 0;
        detail::operation_origin_hooks.store(nullptr, std::memory_order_relaxed);
        unlock_after_fork();
      });
}

}  // namespace

origins::origins() {
  memory::get();
  const std::lock_guard lock(users_mutex);
  if (users++ == 0)
    detail::operation_origin_hooks.store(&hooks, std::memory_order_release);
}

origins::~origins() {
  const std::lock_guard lock(users_mutex);
  if (--users != 0)
    return;
  detail::operation_origin_hooks.store(nullptr, std::memory_order_release);
  memory::get().forget();
}

std::span<void* const> origins::addresses(const void* found) noexcept {
  if (!found)
    return {};
  const auto* const s = static_cast<const stack*>(found);
  return {s->frames.data(), static_cast<std::size_t>(s->count)};
}

}  // namespace WEFT_NAMESPACE::observe
