// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/task_info.hpp>

#include <algorithm>
#include <mutex>

#include "coro/manager_tables.hpp"

// What is told of tasks.

namespace WEFT_NAMESPACE {

const char* to_string(task_state s) noexcept {
  switch (s) {
    case task_state::waiting: return "waiting";
    case task_state::queued: return "queued";
    case task_state::running: return "running";
    case task_state::done: return "done";
    case task_state::failed: return "failed";
    case task_state::cancelled: return "cancelled";
    case task_state::timed_out: return "timed out";
  }
  return "";
}

namespace detail {

managed_task* manager_core::find(task_id id) noexcept {
  const std::lock_guard lock(*this);
  managed_task* const task = look_up(id);
  if (task)
    task->retain();
  return task;
}

task_state manager_core::state(const managed_task& task) noexcept {
  const std::lock_guard lock(*this);
  return task.state_;
}

bool manager_core::take(managed_task& task) noexcept {
  const std::lock_guard lock(*this);
  if (task.result_ != result::whole)
    return false;
  task.result_ = result::taken;
  return true;
}

bool manager_core::share(managed_task& task) noexcept {
  const std::lock_guard lock(*this);
  if (task.result_ == result::taken)
    return false;
  task.result_ = result::shared;
  return true;
}

bool manager_core::forget(task_id id) noexcept {
  managed_task* task;
  {
    const std::lock_guard lock(*this);
    task = look_up(id);
    if (!task || !has_ended(task->state_))
      return false;
    leave_table(*task);
  }
  task->release();
  return true;
}

task_info manager_core::info_of(const managed_task& task) const {
  task_info info{.id = task.id_,
                 .state = task.state_,
                 .where = task.where(),
                 .since = time_point(task.since_),
                 .waits_for = {},
                 .error = task.error_};
  info.waits_for.reserve(task.predecessors_.size());
  for (const task_edge& p : task.predecessors_)
    info.waits_for.push_back(p.task->id_);
  return info;
}

task_info manager_core::describe(managed_task& task) {
  const std::lock_guard lock(*this);
  return info_of(task);
}

std::vector<task_info> manager_core::describe_all() {
  std::vector<task_info> all;
  {
    const std::lock_guard lock(*this);
    all.reserve(tables_->tasks.size());
    for (const auto& [number, task] : tables_->tasks)
      all.push_back(info_of(*task));
  }
  std::sort(all.begin(), all.end(),
            [](const task_info& a, const task_info& b) { return a.id < b.id; });
  return all;
}

task_counts manager_core::counts() noexcept {
  const std::lock_guard lock(*this);
  return tables_->counts;
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
