// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include <weft/base/reference_count.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/coro/child_task.hpp>
#include <weft/coro/task_info.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/io/timer_core.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

class manager_core;
class manager_wait;
class managed_task;

/// That a task comes after another, as a member of either's list: the one at the other end, and the
/// index there.
struct task_edge {
  managed_task* task;
  std::size_t back;
};

/// A task of a task_manager: what it is to do, until it begins, and what came of it. Its references
/// are the manager's table's, its handles', those of who waits for it, and while it runs that of
/// the list of tasks that run.
class WEFT_API managed_task : public child_task, private timer_entry {
 public:
  void retain() noexcept { references_.add(); }
  void release() noexcept {
    if (references_.drop())
      delete this;
  }

  manager_core& core() const noexcept { return core_; }
  task_id id() const noexcept { return id_; }
  /// Of one that has ended.
  const std::exception_ptr& error() const noexcept { return error_; }

  // Recycled as the memory of operations is.
  static void* operator new(std::size_t size) {
    return thread_memory::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void operator delete(void* record, std::size_t size) noexcept {
    thread_memory::deallocate(record, size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }

 protected:
  managed_task(manager_core& core, const task_options& options, const std::source_location& where);
  virtual ~managed_task();

 private:
  friend class manager_core;

  enum class request : unsigned char { none, kill, timeout };
  /// Of what can only be moved: moved once, or read by what was given to `then`.
  enum class result : unsigned char { whole, taken, shared };

  /// Starts what it is to do, with a task_handler. Called once, or else `discard`.
  virtual void begin() = 0;
  virtual void discard() noexcept = 0;

  manager_core& core_;
  reference_count references_;
  // Guarded by the lock of the core.
  task_id id_{};
  task_state state_ = task_state::waiting;
  request request_ = request::none;
  const bool begins_after_failure_;
  bool is_held_;
  bool is_in_table_ = false;
  bool is_kept_ = false;      // in the table only for its result
  bool is_timed_ = false;     // in the heap of deadlines
  bool has_handler_ = false;  // written by who begins it, before the operation is started
  bool has_begun_ = false;    // `begin` has returned
  bool was_dropped_ = false;  // its handler was destroyed un-called
  result result_ = result::whole;
  std::int64_t since_ = 0;
  std::uint64_t visit_ = 0;              // the last search for a cycle that has come here
  std::vector<task_edge> predecessors_;  // that have not ended
  std::vector<task_edge> dependents_;
  wait_list<manager_wait> waits_;
  std::exception_ptr error_;
  managed_task* later_ = nullptr;  // in a chain of those to be begun, discarded, or released
};

/// Waits for the end of a task, or of all tasks.
class WEFT_API manager_wait : public core_operation<manager_core> {
 public:
  bool start() noexcept;

 protected:
  /// Takes over a reference to the task; null: for all tasks, or for one that is unknown.
  manager_wait(function f, scheduler& owner, manager_core& core, managed_task* task,
               bool is_for_all = false) noexcept
      : core_operation(f, owner, core), task_(task), is_for_all_(is_for_all) {}
  ~manager_wait() {
    if (task_)
      task_->release();
  }

  managed_task* task() const noexcept { return task_; }

 private:
  friend class manager_core;

  managed_task* const task_;
  const bool is_for_all_;
};

/// The state of a task_manager. Each task owns a reference to it, and so does the wait for the next
/// deadline.
class WEFT_API manager_core final : public wait_core<sharing::concurrent> {
 public:
  manager_core(const any_io_executor& executor, const task_manager_options& options);
  ~manager_core() override;

  const any_io_executor& get_executor() const noexcept { return executor_; }

  /// Takes over a reference to the task, and gives it an id. If it throws, the task is discarded.
  /// `first`, if not null, is one more task that it comes after.
  void start(managed_task& task, const task_options& options, managed_task* first);

  /// From a task's handler: it is made; it was called, and the result has been stored.
  void has_handler(managed_task& task) noexcept { task.has_handler_ = true; }
  void end(managed_task& task, std::exception_ptr error) noexcept;
  /// The handler was destroyed un-called.
  void drop(managed_task& task) noexcept;

  /// With a reference, or null.
  managed_task* find(task_id id) noexcept;
  task_state state(const managed_task& task) noexcept;
  /// The result can only be moved. Whether it may be: once, unless it is shared.
  bool take(managed_task& task) noexcept;
  /// Whether it may be read from now on: not once it is taken.
  bool share(managed_task& task) noexcept;
  bool forget(task_id id) noexcept;
  task_info describe(managed_task& task);
  std::vector<task_info> describe_all();
  task_counts counts() noexcept;

  bool kill(managed_task& task) noexcept;
  void kill_all() noexcept;
  bool release_held(task_id id);
  void depend(task_id task, task_id predecessor);
  void expires_at(std::int64_t deadline);
  /// The wait for the next deadline has ended.
  void expire() noexcept;

  bool start(manager_wait& op) noexcept;
  void withdraw(core_operation<manager_core>& op, completed_waits& out) noexcept;

  /// The end of the manager object.
  void close() noexcept;

  /// For child_list: a task that was running is used by nobody any more.
  void dispose(child_task& task) noexcept;

 private:
  struct tables;
  struct chain;
  struct effects;
  using request = managed_task::request;
  using result = managed_task::result;

  void take_pending(completed_waits& out) noexcept override;

  // Under the lock.
  managed_task* look_up(task_id id) const noexcept;
  void set_state(managed_task& task, task_state state) noexcept;
  void become_ready(managed_task& task, effects& out) noexcept;
  void finish(managed_task& task, task_state state, std::exception_ptr error,
              effects& out) noexcept;
  void finish_unstarted(managed_task& task, request why, effects& out) noexcept;
  void cancel_unstarted(managed_task& task, task_state state, effects& out) noexcept;
  void propagate(managed_task& task, effects& out) noexcept;
  void propagate_after(const managed_task* last, effects& out) noexcept;
  void retire(managed_task& task, chain& out) noexcept;
  void leave_table(managed_task& task) noexcept;
  void refuse_cycle(managed_task& task, managed_task& predecessor);
  static void remove_edge(std::vector<task_edge>& edges, std::size_t index,
                          std::vector<task_edge> managed_task::* other_side) noexcept;
  std::int64_t next_deadline() const noexcept;
  void arm();
  void disarm_if_idle() noexcept;
  task_info info_of(const managed_task& task) const;

  void apply(effects& e) noexcept;
  void launch(managed_task& task) noexcept;
  void leave(managed_task& task) noexcept;
  bool expire_one() noexcept;
  void request_all(request why) noexcept;

  const any_io_executor executor_;
  const task_manager_options options_;
  std::unique_ptr<tables> tables_;
};

inline bool manager_wait::start() noexcept {
  return core().start(*this);
}

/// What initiations of a manager's own operations have in common.
class manager_initiation {
 public:
  using executor_type = any_io_executor;

  explicit manager_initiation(manager_core& core) noexcept : core_(&core) {}

  const executor_type& get_executor() const noexcept { return core_->get_executor(); }
  scheduler& owner() const noexcept { return core_->owner(); }
  manager_core& core() const noexcept { return *core_; }

 private:
  manager_core* core_;
};

class initiate_manager_join : public manager_initiation {
 public:
  class operation_type : public manager_wait {
   public:
    operation_type(function f, scheduler& owner, initiate_manager_join&& initiation) noexcept
        : manager_wait(f, owner, initiation.core(), nullptr, true) {}
  };
  using manager_initiation::manager_initiation;

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }
};

/// A counted reference to a task.
class task_reference {
 public:
  task_reference() = default;
  /// Takes over a reference.
  explicit task_reference(managed_task* task) noexcept : task_(task) {}
  task_reference(const task_reference& other) noexcept : task_(other.task_) {
    if (task_)
      task_->retain();
  }
  task_reference(task_reference&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  task_reference& operator=(task_reference other) noexcept {
    std::swap(task_, other.task_);
    return *this;
  }
  ~task_reference() {
    if (task_)
      task_->release();
  }

  managed_task* get() const noexcept { return task_; }
  managed_task* release() noexcept { return std::exchange(task_, nullptr); }

 private:
  managed_task* task_ = nullptr;
};

/// Waits for one task, and gives its state.
class initiate_task_wait : public manager_initiation {
 public:
  class operation_type : public manager_wait {
   public:
    operation_type(function f, scheduler& owner, initiate_task_wait&& initiation) noexcept
        : manager_wait(f, owner, initiation.core(), initiation.task_.release()) {}

    operation_results<error_code, task_state> take_results() noexcept {
      if (!task())
        return {error_code(error::not_found), task_state()};
      return {is_granted() ? error_code() : error_code(error::operation_aborted),
              core().state(*task())};
    }
  };

  initiate_task_wait(manager_core& core, task_reference task) noexcept
      : manager_initiation(core), task_(std::move(task)) {}

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  task_reference task_;
};

}  // namespace WEFT_NAMESPACE::detail
