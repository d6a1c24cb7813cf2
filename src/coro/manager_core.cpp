// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/manager_core.hpp>

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include <weft/base/clock.hpp>
#include <weft/execution/submit.hpp>

#include "coro/manager_tables.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

using clock = std::chrono::steady_clock;

std::int64_t deadline_of(const task_options& options) noexcept {
  const clock::time_point by_timeout = options.timeout == clock::duration::max()
                                           ? clock::time_point::max()
                                           : saturated_add(clock_now<clock>(), options.timeout);
  return saturated_nanoseconds<rounding::up>(
      std::min(options.deadline, by_timeout).time_since_epoch());
}

}  // namespace

// ---- managed_task

managed_task::managed_task(manager_core& core, const task_options& options,
                           const std::source_location& where)
    : child_task(where),
      timer_entry(deadline_of(options)),
      core_(core),
      begins_after_failure_(options.after_failure),
      is_held_(options.held) {
  core_.retain();
}

managed_task::~managed_task() {
  core_.release();
}

// ---- manager_core

manager_core::manager_core(const any_io_executor& executor, const task_manager_options& options)
    : wait_core(executor_context(executor)),
      executor_(executor),
      options_(options),
      tables_(std::make_unique<tables>(executor)) {
  assert(options.max_running != 0 && "a task_manager needs room for at least one task");
}

manager_core::~manager_core() = default;

void manager_core::close() noexcept {
  std::optional<steady_timer> timer;
  {
    const std::lock_guard lock(*this);
    tables_->is_closed = true;
    timer.swap(tables_->timer);
  }
  timer.reset();
  cancel();  // while the table leads to all that wait
  request_all(request::kill);
  for (;;) {
    managed_task* task;
    {
      const std::lock_guard lock(*this);
      if (tables_->tasks.empty())
        break;
      task = tables_->tasks.begin()->second;
      leave_table(*task);
    }
    task->release();
  }
  wait_core::close();
}

managed_task* manager_core::look_up(task_id id) const noexcept {
  const auto found = tables_->tasks.find(static_cast<std::uint64_t>(id));
  return found == tables_->tasks.end() ? nullptr : found->second;
}

/// It can no longer be found by its id. The table's reference is the caller's.
void manager_core::leave_table(managed_task& task) noexcept {
  tables_->tasks.erase(static_cast<std::uint64_t>(task.id_));
  task.is_in_table_ = false;
  if (std::exchange(task.is_kept_, false)) {
    tables_->kept.remove(task);
    --tables_->kept_count;
  }
}

void manager_core::set_state(managed_task& task, task_state state) noexcept {
  --tables_->counts.of[static_cast<std::size_t>(task.state_)];
  ++tables_->counts.of[static_cast<std::size_t>(state)];
  task.state_ = state;
  task.since_ = steady_now();
}

// ---- the beginning of tasks

void manager_core::start(managed_task& task, const task_options& options, managed_task* first) {
  assert((!first || &first->core() == this) && "task_manager::then takes tasks of its own");
  effects e;
  try {
    const std::lock_guard lock(*this);
    bool is_spoilt = false;
    const std::uint64_t search = ++tables_->searches;
    const auto come_after = [&](managed_task& predecessor) {
      if (has_ended(predecessor.state_)) {
        is_spoilt = is_spoilt || predecessor.state_ != task_state::done;
      } else if (std::exchange(predecessor.visit_, search) != search) {
        task.predecessors_.push_back({&predecessor, predecessor.dependents_.size()});
        make_room(predecessor.dependents_);
      }
    };
    task.predecessors_.reserve(options.after.size() + (first ? 1 : 0));
    for (const task_id id : options.after) {
      managed_task* const predecessor = look_up(id);
      if (!predecessor)
        throw_error(error::not_found, "task_options::after");
      come_after(*predecessor);
    }
    if (first)
      come_after(*first);
    const std::uint64_t number = tables_->last_id + 1;
    tables_->tasks.emplace(number, &task);
    std::size_t& waiting = tables_->counts.of[static_cast<std::size_t>(task_state::waiting)];
    ++waiting;
    if (task.expiry_ != never)
      tables_->deadlines.push(&task);
    try {
      arm();
    } catch (...) {
      if (task.expiry_ != never)
        tables_->deadlines.remove(&task);
      --waiting;
      tables_->tasks.erase(number);
      throw;
    }
    tables_->last_id = number;
    task.id_ = task_id{number};
    task.is_in_table_ = true;
    task.is_timed_ = task.expiry_ != never;
    task.since_ = steady_now();
    for (std::size_t i = 0; i != task.predecessors_.size(); ++i)
      task.predecessors_[i].task->dependents_.push_back({&task, i});
    if (tables_->has_expired)
      finish_unstarted(task, request::timeout, e);
    else if (is_spoilt && !task.begins_after_failure_)
      finish_unstarted(task, request::kill, e);
    else if (task.predecessors_.empty() && !task.is_held_)
      become_ready(task, e);
  } catch (...) {
    task.predecessors_.clear();
    task.discard();
    task.release();
    throw;
  }
  apply(e);
}

/// It waits for nothing but room.
void manager_core::become_ready(managed_task& task, effects& out) noexcept {
  if (tables_->running_count == options_.max_running) {
    set_state(task, task_state::queued);
    tables_->queued.push(task);
    return;
  }
  ++tables_->running_count;
  set_state(task, task_state::running);
  task.retain();
  tables_->running.add(task);
  out.to_begin.push(task);
}

void manager_core::apply(effects& e) noexcept {
  while (managed_task* const task = e.to_begin.pop())
    launch(*task);
  while (managed_task* const task = e.to_discard.pop()) {
    task->discard();
    dispose(*task);
  }
}

void manager_core::launch(managed_task& task) noexcept {
  std::exception_ptr thrown;
  try {
    task.begin();
  } catch (...) {
    thrown = std::current_exception();
  }
  effects e;
  bool is_cancelled;
  {
    const std::lock_guard lock(*this);
    task.has_begun_ = true;
    is_cancelled = task.request_ != request::none;
    // An initiating function that throws and has kept the handler has started the operation all the
    // same.
    if (!task.has_handler_) {
      finish(task, task_state::failed, std::move(thrown), e);
      tables_->running.end(task);
    } else if (task.was_dropped_) {
      if (thrown)
        finish(task, task_state::failed, std::move(thrown), e);
      else
        finish(task, task_state::cancelled, exception_of(error::operation_aborted), e);
    }
  }
  if (is_cancelled)
    child_list::emit_to(task, cancellation_type::terminal);
  apply(e);
  leave(task);
}

/// Who has used a task that was running uses it no longer.
void manager_core::leave(managed_task& task) noexcept {
  bool is_last;
  {
    const std::lock_guard lock(*this);
    is_last = tables_->running.drop(task);
  }
  if (is_last)
    dispose(task);
}

// ---- their end

void manager_core::end(managed_task& task, std::exception_ptr error) noexcept {
  const bool is_abort = error && is_aborted(error);
  effects e;
  bool is_last;
  {
    const std::lock_guard lock(*this);
    if (!error)
      finish(task, task_state::done, nullptr, e);
    else if (is_abort && task.request_ == request::timeout)
      finish(task, task_state::timed_out, exception_of(error::timed_out), e);
    else if (is_abort && task.request_ == request::kill)
      finish(task, task_state::cancelled, std::move(error), e);
    else
      finish(task, task_state::failed, std::move(error), e);
    is_last = tables_->running.end(task);
  }
  apply(e);
  if (is_last)
    dispose(task);
}

void manager_core::drop(managed_task& task) noexcept {
  effects e;
  bool is_last;
  {
    const std::lock_guard lock(*this);
    task.was_dropped_ = true;
    if (task.has_begun_)
      finish(task, task_state::cancelled, exception_of(error::operation_aborted), e);
    is_last = tables_->running.end(task);
  }
  apply(e);
  if (is_last)
    dispose(task);
}

/// A task that was running has ended.
void manager_core::finish(managed_task& task, task_state state, std::exception_ptr error,
                          effects& out) noexcept {
  const managed_task* const last = out.to_discard.last;
  set_state(task, state);
  task.error_ = std::move(error);
  propagate(task, out);
  propagate_after(last, out);
  --tables_->running_count;
  if (child_task* const next = tables_->queued.pop())
    become_ready(static_cast<managed_task&>(*next), out);
}

/// A task that has not begun never will.
void manager_core::finish_unstarted(managed_task& task, request why, effects& out) noexcept {
  const managed_task* const last = out.to_discard.last;
  cancel_unstarted(task, why == request::timeout ? task_state::timed_out : task_state::cancelled,
                   out);
  propagate_after(last, out);
}

void manager_core::cancel_unstarted(managed_task& task, task_state state, effects& out) noexcept {
  if (task.state_ == task_state::queued)
    tables_->queued.remove(task);
  set_state(task, state);
  task.error_ =
      exception_of(state == task_state::timed_out ? error::timed_out : error::operation_aborted);
  task.retain();
  out.to_discard.push(task);
}

/// Tells those who wait for a task of its end. Dependents that are cancelled with it are appended
/// to those to be discarded; theirs are to be told next.
void manager_core::propagate(managed_task& task, effects& out) noexcept {
  if (std::exchange(task.is_timed_, false))
    tables_->deadlines.remove(&task);
  out.done.grant(task.waits_);
  for (const task_edge& p : task.predecessors_)
    remove_edge(p.task->dependents_, p.back, &managed_task::predecessors_);
  task.predecessors_.clear();
  for (const auto [d, place] : task.dependents_) {
    remove_edge(d->predecessors_, place, &managed_task::dependents_);
    if (d->state_ != task_state::waiting)
      continue;
    if (d->request_ != request::none)
      continue;  // who cancels all comes to it
    if (task.state_ != task_state::done && !d->begins_after_failure_)
      cancel_unstarted(*d, task_state::cancelled, out);
    else if (d->predecessors_.empty() && !d->is_held_)
      become_ready(*d, out);
  }
  task.dependents_.clear();
  if (tables_->counts.unfinished() == 0)
    out.done.grant(tables_->joins);
  disarm_if_idle();
}

void manager_core::propagate_after(const managed_task* last, effects& out) noexcept {
  for (managed_task* t = last ? last->later_ : out.to_discard.first; t; t = t->later_)
    propagate(*t, out);
}

/// A task has ended, and nobody uses it: its result is kept.
void manager_core::dispose(child_task& child) noexcept {
  auto& task = static_cast<managed_task&>(child);
  chain unwanted;
  {
    const std::lock_guard lock(*this);
    retire(task, unwanted);
  }
  unwanted.release_all();
  task.release();
}

void manager_core::retire(managed_task& task, chain& out) noexcept {
  if (!task.is_in_table_)
    return;
  task.is_kept_ = true;
  tables_->kept.push(task);
  ++tables_->kept_count;
  const std::int64_t keep = saturated_nanoseconds<rounding::up>(options_.keep_for);
  const std::int64_t now = steady_now();
  while (child_task* const oldest = tables_->kept.front()) {
    auto& old = static_cast<managed_task&>(*oldest);
    if (tables_->kept_count <= options_.keep_results && now - old.since_ <= keep)
      break;
    leave_table(old);
    out.push(old);
  }
}

// ---- those who wait

bool manager_core::start(manager_wait& op) noexcept {
  if (!op.task_ && !op.is_for_all_)
    return false;
  const std::lock_guard lock(*this);
  if (op.task_ ? has_ended(op.task_->state_) : tables_->counts.unfinished() == 0) {
    op.become_granted();
    return false;
  }
  if (tables_->is_closed)
    return false;
  op.become_pending();
  (op.task_ ? op.task_->waits_ : tables_->joins).push(op);
  return true;
}

void manager_core::withdraw(core_operation<manager_core>& op, completed_waits& out) noexcept {
  auto& wait = static_cast<manager_wait&>(op);
  (wait.task_ ? wait.task_->waits_ : tables_->joins).remove(wait);
  out.abort(wait);
}

void manager_core::take_pending(completed_waits& out) noexcept {
  out.abort(tables_->joins);
  for (const auto& [number, task] : tables_->tasks)
    out.abort(task->waits_);
}

}  // namespace WEFT_NAMESPACE::detail
