// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <utility>

#include <weft/base/sharing_policy.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/coro/child_task.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE {

/// How a task_group treats its children.
struct task_group_options {
  /// Whether the first child that fails has the others cancelled. If not, all run to their end.
  bool cancel_on_failure = true;
  /// How many of the children that async_spawn starts may run at a time. At least one.
  std::size_t max_concurrency = static_cast<std::size_t>(-1);
};

namespace detail {

class group_core;

/// A child of a task_group. One that has failed stays until the join, with its error.
class group_child final : public child_task {
 public:
  group_child(group_core& core, const std::source_location& where, bool is_limited) noexcept
      : child_task(where), core_(core), is_limited_(is_limited) {}

  group_core& core() const noexcept { return core_; }

 private:
  friend class group_core;

  group_core& core_;
  std::exception_ptr error_;
  group_child* failed_later_ = nullptr;
  const bool is_limited_;
};

/// Waits for the end of a group's children.
class WEFT_API group_join_operation : public core_operation<group_core> {
 public:
  bool start() noexcept;
  void cancel(cancellation_type type) noexcept;
  operation_results<std::exception_ptr> take_results() noexcept;

 protected:
  group_join_operation(function f, scheduler& owner, group_core& core) noexcept
      : core_operation(f, owner, core) {}
  ~group_join_operation() = default;

 private:
  friend class group_core;

  std::exception_ptr outcome_;
  // Guarded by the lock of the core until the operation has been granted.
  bool is_cancelled_ = false;
  bool has_aborted_ = false;
};

/// Waits for room for a child. Once granted, it counts as one of those that run.
class WEFT_API group_spawn_operation : public core_operation<group_core> {
 public:
  bool start() noexcept;

 protected:
  group_spawn_operation(function f, scheduler& owner, group_core& core) noexcept
      : core_operation(f, owner, core) {}
  ~group_spawn_operation();

  /// Whether the child may be started, now, by the caller.
  bool take_place() noexcept { return is_granted() && !std::exchange(has_begun_, true); }

 private:
  bool has_begun_ = false;
};

/// The state of a task_group. Each child owns a reference to it until it has ended, and so does who
/// starts one, who has been granted a place for one, and the wait for the deadline.
class WEFT_API group_core final : public wait_core<sharing::concurrent> {
 public:
  using clock = std::chrono::steady_clock;

  group_core(execution_context& context, const task_group_options& options);
  ~group_core() override;

  /// A child is about to be started; `started` is to be called when it has been. One that a
  /// group_spawn_operation starts has a place already, which is given back if this throws
  /// std::bad_alloc, or what starting a timer throws.
  group_child& begin(const std::source_location& where, bool has_place);
  void started(group_child& child) noexcept;
  /// A child has ended, and failed if `error` is not null.
  void end(group_child& child, std::exception_ptr error) noexcept;
  /// A place is not needed.
  void give_back() noexcept;

  void cancel_children(cancellation_type type) noexcept;
  void expires_at(const any_io_executor& executor, clock::time_point deadline,
                  const std::source_location& where);

  /// The wait for the deadline has ended.
  void expire() noexcept;

  std::size_t size() noexcept;
  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) != cancellation_type::none;
  }

  bool start(group_join_operation& op) noexcept;
  void cancel(group_join_operation& op, cancellation_type type) noexcept;
  bool start(group_spawn_operation& op) noexcept;

  /// For core_operation: only who waits for room is cancelled so.
  void withdraw(core_operation<group_core>& op, completed_waits& out) noexcept;

  /// The end of the group object.
  void close() noexcept;

  /// For child_list: nobody uses the child any more.
  void dispose(child_task& child) noexcept;

 private:
  void take_pending(completed_waits& out) noexcept override;

  // Under the lock.
  bool has_ended() const noexcept { return running_ == 0 && cancelling_ == 0; }
  void request(cancellation_type type, completed_waits& out) noexcept;
  void leave(bool is_limited, completed_waits& out) noexcept;
  void settle(completed_waits& out) noexcept;
  void take_outcome(group_join_operation& op) noexcept;
  void arm();
  void disarm() noexcept;

  void cancel_running(cancellation_type type) noexcept;

  const task_group_options options_;
  // Written under the lock; what has been requested since the last join.
  std::atomic<cancellation_type> cancelled_{cancellation_type::none};

  // Guarded by the lock.
  child_list children_;
  std::size_t running_ = 0;     // children that have not ended, and places that were granted
  std::size_t limited_ = 0;     // those of them that max_concurrency counts
  std::size_t cancelling_ = 0;  // threads that emit the children's signals: no join completes
  group_child* first_failed_ = nullptr;
  group_child* last_failed_ = nullptr;
  bool has_aborted_ = false;  // a child has obeyed a cancellation
  bool has_expired_ = false;
  bool is_armed_ = false;
  std::optional<clock::time_point> deadline_;
  std::source_location deadline_where_;
  std::unique_ptr<steady_timer> timer_;
  wait_list<group_join_operation> joins_;
  wait_list<group_spawn_operation> spawns_;
};

inline bool group_join_operation::start() noexcept {
  return core().start(*this);
}
inline void group_join_operation::cancel(cancellation_type type) noexcept {
  core().cancel(*this, type);
}
inline bool group_spawn_operation::start() noexcept {
  return core().start(*this);
}
inline group_spawn_operation::~group_spawn_operation() {
  if (take_place())
    core().give_back();
}

/// What initiations of a group's own operations have in common.
class group_initiation {
 public:
  using executor_type = any_io_executor;

  group_initiation(group_core& core, const any_io_executor& executor) noexcept
      : core_(&core), executor_(executor) {}

  const executor_type& get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return core_->owner(); }
  group_core& core() const noexcept { return *core_; }

 private:
  group_core* core_;
  any_io_executor executor_;
};

class initiate_group_join : public group_initiation {
 public:
  class operation_type : public group_join_operation {
   public:
    operation_type(function f, scheduler& owner, initiate_group_join&& initiation) noexcept
        : group_join_operation(f, owner, initiation.core()) {}
  };
  using group_initiation::group_initiation;

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
