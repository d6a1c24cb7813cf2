// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/coro/manager_core.hpp>
#include <weft/io/steady_timer.hpp>

#include "io/timer_heap.hpp"

// What the files of a task_manager have in common.
namespace WEFT_NAMESPACE::detail {

inline std::chrono::steady_clock::time_point time_point(std::int64_t steady) noexcept {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(steady));
}

/// Those to the tasks before a task, or after it.
using task_edges = std::vector<task_edge>;

/// For one more. Throws std::bad_alloc.
inline void make_room(task_edges& v) {
  if (v.size() == v.capacity())
    v.reserve(std::max<std::size_t>(4, 2 * v.size()));
}

inline bool has_edge(const task_edges& v, const managed_task* task) noexcept {
  return std::any_of(v.begin(), v.end(), [=](const task_edge& e) { return e.task == task; });
}

/// What the lock guards.
struct manager_core::tables {
  std::unordered_map<std::uint64_t, managed_task*> tasks;
  std::uint64_t last_id = 0;
  std::uint64_t searches = 0;
  child_list running;
  std::size_t running_count = 0;
  wait_list<child_task> queued;
  wait_list<child_task> kept;  // tasks that have ended, and nobody uses, the oldest first
  std::size_t kept_count = 0;
  task_counts counts;
  wait_list<manager_wait> joins;
  bool is_closed = false;

  // All deadlines share one timer, which is armed for the earliest; or for an earlier one that is
  // gone meanwhile.
  timer_heap deadlines;
  std::optional<steady_timer> timer;
  std::int64_t armed_until = never;
  std::int64_t deadline_of_all = never;
  bool has_expired = false;  // deadline_of_all has been reached

  explicit tables(const any_io_executor& executor) : timer(executor) {}
};

/// Tasks, in the order in which they were put in. A task is in one chain at most.
struct manager_core::chain {
  managed_task* first = nullptr;
  managed_task* last = nullptr;

  void push(managed_task& t) noexcept {
    t.later_ = nullptr;
    (last ? last->later_ : first) = &t;
    last = &t;
  }
  managed_task* pop() noexcept {
    managed_task* const t = first;
    if (t && !(first = t->later_))
      last = nullptr;
    return t;
  }
  void release_all() noexcept {
    while (managed_task* const t = pop())
      t->release();
  }
};

/// What is to be done when the lock has been released.
struct manager_core::effects {
  completed_waits done;
  chain to_begin;
  chain to_discard;  // with a reference to each
};

}  // namespace WEFT_NAMESPACE::detail
