// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <mutex>

#include <weft/base/clock.hpp>

#include "coro/expiry_handler.hpp"
#include "coro/manager_tables.hpp"

// What ends the tasks of a task_manager before their time.

namespace WEFT_NAMESPACE::detail {
namespace {

/// How many deadlines that have passed are looked at before others have their turn.
constexpr unsigned expiry_batch = 64;

}  // namespace

bool manager_core::kill(managed_task& task) noexcept {
  effects e;
  bool is_running;
  {
    const std::lock_guard lock(*this);
    if (has_ended(task.state_))
      return false;
    is_running = task.state_ == task_state::running;
    if (!is_running)
      finish_unstarted(task, request::kill, e);
    else if (task.request_ == request::none)
      task.request_ = request::kill;
    if (is_running)
      tables_->running.use(task);
  }
  if (is_running) {
    child_list::emit_to(task, cancellation_type::terminal);
    leave(task);
  }
  apply(e);
  return true;
}

void manager_core::kill_all() noexcept {
  request_all(request::kill);
}

void manager_core::request_all(request why) noexcept {
  effects e;
  {
    const std::lock_guard lock(*this);
    for (const auto& [number, task] : tables_->tasks)
      task->request_ = task->request_ == request::none ? why : task->request_;
    for (const auto& [number, task] : tables_->tasks)
      if (task->state_ != task_state::running && !has_ended(task->state_))
        finish_unstarted(*task, why, e);
  }
  tables_->running.emit(*this, cancellation_type::terminal);
  apply(e);
}

void manager_core::expires_at(std::int64_t deadline) {
  const std::lock_guard lock(*this);
  tables_->deadline_of_all = deadline;
  tables_->has_expired = false;
  arm();
}

std::int64_t manager_core::next_deadline() const noexcept {
  if (tables_->counts.unfinished() == 0)
    return never;
  const timer_entry* const first = tables_->deadlines.front();
  return std::min(first ? first->expiry_ : never, tables_->deadline_of_all);
}

void manager_core::arm() {
  const std::int64_t next = next_deadline();
  if (!tables_->timer || next >= tables_->armed_until)
    return;
  tables_->timer->expires_at(time_point(next));
  tables_->armed_until = never;
  tables_->timer->async_wait(expiry_handler(*this));
  tables_->armed_until = next;
}

/// A timer that is waited for is work of its context: so there is none without need.
void manager_core::disarm_if_idle() noexcept {
  if (tables_->timer && tables_->armed_until != never && next_deadline() == never) {
    tables_->timer->cancel();
    tables_->armed_until = never;
  }
}

void manager_core::expire() noexcept {
  bool have_all_expired;
  {
    const std::lock_guard lock(*this);
    have_all_expired = tables_->deadline_of_all <= steady_now();
    if (have_all_expired) {
      tables_->deadline_of_all = never;
      tables_->has_expired = true;
    }
  }
  if (have_all_expired)
    request_all(request::timeout);
  for (unsigned n = 0; n != expiry_batch && expire_one(); ++n) {}
  const std::lock_guard lock(*this);
  tables_->armed_until = never;
  try {
    arm();
  } catch (...) {
    // There is no memory to wait. The next task that is started with a deadline tries again.
  }
}

/// Ends or cancels the first task whose deadline has passed, if there is one.
bool manager_core::expire_one() noexcept {
  effects e;
  managed_task* running = nullptr;
  {
    const std::lock_guard lock(*this);
    timer_entry* const first = tables_->deadlines.front();
    if (!first || first->expiry_ > steady_now())
      return false;
    auto& task = static_cast<managed_task&>(*first);
    if (task.state_ != task_state::running) {
      finish_unstarted(task, request::timeout, e);
    } else {
      tables_->deadlines.remove(&task);
      task.is_timed_ = false;
      if (task.request_ == request::none)
        task.request_ = request::timeout;
      tables_->running.use(task);
      running = &task;
    }
  }
  if (running) {
    child_list::emit_to(*running, cancellation_type::terminal);
    leave(*running);
  }
  apply(e);
  return true;
}

}  // namespace WEFT_NAMESPACE::detail
