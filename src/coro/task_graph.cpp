// SPDX-License-Identifier: BSL-1.0
#include <mutex>
#include <string>
#include <utility>

#include "coro/manager_tables.hpp"

// What tasks wait for.

namespace WEFT_NAMESPACE {

task_cycle::task_cycle(const std::string& what, std::vector<task_id> tasks)
    : std::logic_error(what), tasks_(std::move(tasks)) {}

task_cycle::~task_cycle() = default;

namespace detail {

bool manager_core::release_held(task_id id) {
  effects e;
  {
    const std::lock_guard lock(*this);
    managed_task* const task = look_up(id);
    if (!task || !task->is_held_ || task->state_ != task_state::waiting)
      return false;
    task->is_held_ = false;
    if (task->predecessors_.empty())
      become_ready(*task, e);
  }
  apply(e);
  return true;
}

void manager_core::depend(task_id id, task_id on) {
  effects e;
  {
    const std::lock_guard lock(*this);
    managed_task* const task = look_up(id);
    managed_task* const predecessor = look_up(on);
    if (!task || !predecessor)
      throw_error(error::not_found, "task_manager::depends_on");
    if (task->state_ == task_state::running || has_ended(task->state_))
      throw_error(error::already_started, "task_manager::depends_on");
    if (has_ended(predecessor->state_)) {
      if (predecessor->state_ != task_state::done && !task->begins_after_failure_)
        finish_unstarted(*task, request::kill, e);
    } else if (!has_edge(task->predecessors_, predecessor)) {
      refuse_cycle(*task, *predecessor);
      task_edges& before = task->predecessors_;
      task_edges& after = predecessor->dependents_;
      make_room(before);
      make_room(after);
      before.push_back({predecessor, after.size()});
      after.push_back({task, before.size() - 1});
      if (task->state_ == task_state::queued) {
        tables_->queued.remove(*task);
        set_state(*task, task_state::waiting);
      }
    }
  }
  apply(e);
}

/// The last edge of the list takes the place of the one that is removed.
void manager_core::remove_edge(task_edges& edges, std::size_t index,
                               task_edges managed_task::* other_side) noexcept {
  edges[index] = edges.back();
  edges.pop_back();
  if (index != edges.size())
    (edges[index].task->*other_side)[edges[index].back].back = index;
}

/// Throws task_cycle if `predecessor` waits for `task`. Depth first, each task once.
void manager_core::refuse_cycle(managed_task& task, managed_task& predecessor) {
  struct step {
    managed_task* task;
    std::size_t next;
  };
  const std::uint64_t search = ++tables_->searches;
  std::vector<step> path{{&predecessor, 0}};
  predecessor.visit_ = search;
  while (!path.empty()) {
    step& top = path.back();
    if (top.task == &task)
      break;
    if (top.next == top.task->predecessors_.size()) {
      path.pop_back();
      continue;
    }
    managed_task* const next = top.task->predecessors_[top.next++].task;
    if (std::exchange(next->visit_, search) != search)
      path.push_back({next, 0});
  }
  if (path.empty())
    return;
  const auto name = [](const managed_task& t) {
    return std::to_string(static_cast<std::uint64_t>(t.id_)) + " (" + t.where().file_name() + ':' +
           std::to_string(t.where().line()) + ')';
  };
  std::string what = "a task would wait for its own end: " + name(task);
  std::vector<task_id> ids;
  ids.push_back(task.id_);
  for (const step& s : path) {
    what += " waits for " + name(*s.task);
    if (s.task != &task)
      ids.push_back(s.task->id_);
  }
  throw task_cycle(what, std::move(ids));
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
