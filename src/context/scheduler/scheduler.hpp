// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include <weft/base/error_code.hpp>
#include <weft/context/backend_kind.hpp>
#include <weft/context/scheduler.hpp>

#include "context/scheduler/driver.hpp"
#include "context/scheduler/inbox.hpp"
#include "context/scheduler/worker.hpp"

namespace WEFT_NAMESPACE::detail {

/// How a context wants its scheduler.
struct scheduler_options {
  int concurrency_hint = -1;
  bool single_thread = false;  // everything on one thread, which is checked
  bool own_thread = false;     // run by a thread of the scheduler's own
  backend_kind backend = backend_kind::automatic;
};

/// The one scheduler design, for one thread and many.
///
/// **Queues.** Each thread in `run()` is a worker. While there is only one, it is *biased*: it owns
/// its local queue and works on it without lock, fence or atomic read-modify-write. All other
/// threads push to the inbox. With several workers, all of them share one queue under the mutex.
///
/// **Bias.** `biased_` names the worker that may touch its own local queue, or is null.
///   1. The owner, around each access: busy_ = true; light barrier; if biased_ is itself, access;
///      busy_ = false (release). Otherwise it goes through the inbox or the mutex.
///   2. Whoever ends the bias holds the mutex: biased_ = null; heavy barrier; waits for busy_ ==
///      false (acquire); then the local queue is its own. By the barrier pair either the owner sees
///      null, or the other sees busy_.
///   3. biased_ is set under the mutex by the worker itself, when it is the only one.
///
/// **Order.** The biased worker empties the inbox into its local queue before it pushes there: what
/// was posted before, by whomever, runs before.
///
/// **Sleep.** A worker that finds nothing becomes the poller, if there is a driver and nobody
/// polls, or parks on its condition variable. `idle_` counts workers asleep and not yet woken.
///   1. To sleep, under the mutex: ++idle_ (seq_cst); then look into inbox, queue and stop flag
///   once
///      more; if there is anything, --idle_ and go on.
///   2. To wake, after pushing to the inbox (seq_cst): if idle_ != 0 (seq_cst), take the mutex and
///      wake one: a parked worker if there is one, else the poller. The waker does --idle_.
/// A worker that leaves something in the queue, or leaves the driver unpolled, wakes another: so
/// nothing waits behind a handler that blocks while any worker sleeps.
///
/// **Work.** `outstanding_` is exact while no worker is awake. An awake worker holds a credit, far
/// larger than any count, and collects its changes in work_; it gives back both before it sleeps or
/// leaves. Whoever brings the count to zero stops the scheduler.
///
/// Lock order: an I/O object's lock, then the driver's, then mutex_. No handler runs under any.
class scheduler final : public execution_context::service {
 public:
  using clock = std::chrono::steady_clock;

  /// For a context that has none: run by a thread of its own.
  explicit scheduler(execution_context& context);
  scheduler(execution_context& context, const scheduler_options& options);
  ~scheduler();

  const scheduler_options& options() const noexcept { return options_; }

  std::size_t run();
  std::size_t run_one();
  std::size_t run_until(clock::time_point deadline);
  std::size_t run_one_until(clock::time_point deadline);
  std::size_t poll();
  std::size_t poll_one();
  void stop() noexcept;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
  void restart() noexcept { stopped_.store(false, std::memory_order_release); }

  void post(operation* op) noexcept;
  void complete(operation* op) noexcept;
  void complete(operation_queue& ops) noexcept;
  void work_started() noexcept;
  void work_finished() noexcept;

  /// Whether the calling thread is the only one that runs operations here: what it has prepared it
  /// may submit later, at its next poll.
  bool alone() const noexcept;

  /// From now on events come from `driver`; null ends that.
  void set_driver(driver* driver) noexcept;

  /// Stops and joins the thread of the scheduler's own, if it has one.
  void stop_own_thread() noexcept;

 private:
  enum class wait : bool { no, yes };
  struct stay;

  static constexpr std::int64_t credit = std::int64_t(1) << 40;

  void shutdown() override;
  void notify_fork(execution_context::fork_event event) override;

  void enter(worker& w) noexcept;
  void leave(worker& w) noexcept;
  bool run_one(worker& w, wait mode, clock::time_point deadline);
  std::size_t run_all(wait mode, clock::time_point deadline);
  std::size_t run_single(wait mode, clock::time_point deadline);

  bool own(worker& w) noexcept;
  static void disown(worker& w) noexcept;
  void push(worker* w, operation* op) noexcept;
  operation* take(worker& w) noexcept;
  operation* take_shared(worker& w) noexcept;
  bool idle(worker& w, wait mode, clock::time_point deadline) noexcept;

  using lock = std::unique_lock<std::mutex>;
  void bias(worker& w) noexcept;
  void end_bias() noexcept;
  bool settle(worker& w) noexcept;
  bool nothing_queued() noexcept;
  void poll(worker& w, wait mode, clock::time_point deadline, lock& l) noexcept;
  void park(worker& w, clock::time_point deadline, lock& l) noexcept;
  void wake_one() noexcept;
  void wake_all() noexcept;
  void unpark() noexcept;
  void wake_if_idle() noexcept;
  void check_thread() noexcept;

  const scheduler_options options_;
  std::atomic<std::int64_t> outstanding_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<int> idle_{0};
  std::atomic<worker*> biased_{nullptr};
  inbox inbox_;

  std::mutex mutex_;
  // Guarded by mutex_.
  operation_queue shared_;
  worker* workers_ = nullptr;  // all that are in run()
  worker* parked_ = nullptr;   // those asleep, the latest first
  driver* driver_ = nullptr;
  bool polling_ = false;        // a worker is in driver_->poll
  bool poller_asleep_ = false;  // it may sleep there, and nobody has woken it yet
  unsigned entries_ = 0;        // calls of run() and its siblings, for their fairness to events

  std::atomic<std::thread::id> bound_thread_{};  // with single_thread: the one allowed
  std::thread own_thread_;
};

}  // namespace WEFT_NAMESPACE::detail
