// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/manager_core.hpp>

#include <algorithm>
#include <cassert>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <weft/base/clock.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/steady_timer.hpp>

#include "io/timer_heap.hpp"

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

task_cycle::task_cycle(const std::string& what, std::vector<task_id> tasks)
    : std::logic_error(what), tasks_(std::move(tasks)) {}

task_cycle::~task_cycle() = default;

namespace detail {
namespace {

using clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;

/// How many deadlines that have passed are looked at before others have their turn.
constexpr unsigned expiry_batch = 64;

clock::time_point time_point(std::int64_t steady) noexcept {
  return clock::time_point(nanoseconds(steady));
}

std::int64_t deadline_of(const task_options& options) noexcept {
  const clock::time_point by_timeout = options.timeout == clock::duration::max()
                                           ? clock::time_point::max()
                                           : saturated_add(clock_now<clock>(), options.timeout);
  return saturated_nanoseconds<rounding::up>(
      std::min(options.deadline, by_timeout).time_since_epoch());
}

using edges = std::vector<managed_task*>;

void make_room(edges& v) {
  if (v.size() == v.capacity())
    v.reserve(std::max<std::size_t>(4, 2 * v.size()));
}

bool has_edge(const edges& v, const managed_task* task) noexcept {
  return std::find(v.begin(), v.end(), task) != v.end();
}

}  // namespace

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

/// The handler of the wait for the next deadline.
class manager_core::expiry {
 public:
  explicit expiry(manager_core& core) noexcept : core_(&core) { core.retain(); }
  expiry(expiry&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  expiry& operator=(expiry&&) = delete;
  ~expiry() {
    if (core_)
      core_->release();
  }

  void operator()(const error_code& ec) const {
    if (!ec)
      core_->expire();
  }

 private:
  manager_core* core_;
};

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
  assert((!first || &first->core() == this) && "then() takes tasks of the same manager");
  effects e;
  try {
    const std::lock_guard lock(*this);
    bool is_spoilt = false;
    const auto come_after = [&](managed_task& predecessor) {
      if (has_ended(predecessor.state_)) {
        is_spoilt = is_spoilt || predecessor.state_ != task_state::done;
      } else if (!has_edge(task.predecessors_, &predecessor)) {
        task.predecessors_.push_back(&predecessor);
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
    for (managed_task* const predecessor : task.predecessors_)
      predecessor->dependents_.push_back(&task);
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
        finish(task, task_state::cancelled, make_error(error::operation_aborted), e);
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
      finish(task, task_state::timed_out, make_error(error::timed_out), e);
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
      finish(task, task_state::cancelled, make_error(error::operation_aborted), e);
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
      make_error(state == task_state::timed_out ? error::timed_out : error::operation_aborted);
  task.retain();
  out.to_discard.push(task);
}

/// Tells those who wait for a task of its end. Dependents that are cancelled with it are appended
/// to those to be discarded; theirs are to be told next.
void manager_core::propagate(managed_task& task, effects& out) noexcept {
  if (std::exchange(task.is_timed_, false))
    tables_->deadlines.remove(&task);
  out.done.grant(task.waits_);
  for (managed_task* const p : task.predecessors_)
    std::erase(p->dependents_, &task);
  task.predecessors_.clear();
  for (managed_task* const d : task.dependents_) {
    std::erase(d->predecessors_, &task);
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

// ---- cancellation and deadlines

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
  tables_->timer->async_wait(expiry(*this));
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

// ---- dependencies

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
      make_room(task->predecessors_);
      make_room(predecessor->dependents_);
      task->predecessors_.push_back(predecessor);
      predecessor->dependents_.push_back(task);
      if (task->state_ == task_state::queued) {
        tables_->queued.remove(*task);
        set_state(*task, task_state::waiting);
      }
    }
  }
  apply(e);
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
    managed_task* const next = top.task->predecessors_[top.next++];
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

// ---- what is told of tasks

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
  return !std::exchange(task.was_taken_, true);
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
  for (const managed_task* const p : task.predecessors_)
    info.waits_for.push_back(p->id_);
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

}  // namespace detail
}  // namespace WEFT_NAMESPACE
