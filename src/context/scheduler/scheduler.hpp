// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include <weft/base/error_code.hpp>
#include <weft/context/backend_kind.hpp>
#include <weft/context/scheduler.hpp>

#include "context/scheduler/atomics.hpp"
#include "context/scheduler/driver.hpp"
#include "context/scheduler/inbox.hpp"
#include "context/scheduler/observation.hpp"
#include "context/scheduler/observer.hpp"
#include "context/scheduler/thread_group.hpp"
#include "context/scheduler/worker.hpp"

namespace WEFT_NAMESPACE::detail {

/// How a context wants its scheduler.
struct scheduler_options {
  bool single_thread = false;        // everything on one thread, which is checked
  bool membarrier = true;            // may be used, if the kernel has it
  std::chrono::nanoseconds spin{0};  // how long a worker looks for work before it sleeps
  backend_kind backend = backend_kind::automatic;
  void (*begin)() = nullptr;  // called whenever somebody asks for it: starts threads that run it
};

/// The one scheduler design, for one thread and many. Each thread in `run()` is a worker.
///
/// **Queues.** A worker pushes to its local queue and takes from it, first in first out, under its
/// biased lock: without atomic read-modify-write or fence. Threads that are no workers push to the
/// inbox. While there is one worker it empties the inbox before it pushes or takes: what was posted
/// before, by whomever, runs before (P6). With several, the inbox is emptied into the backlog,
/// which all take from, a segment at a time, of a long one up to `largest_batch`; and a worker that
/// finds nothing there steals from another's local queue: half of what is in few segments; all but
/// the first and the last of many become the backlog. Segments change hands without being walked
/// through (segmented_queue); of what piles up in the inbox those who push make some.
///
/// **Sleep.** A worker that finds nothing becomes the poller, if there is a driver and nobody
/// polls, or parks on its condition variable. `idle_` counts workers asleep and not yet woken.
///   1. To sleep, under the mutex: ++idle_ (seq_cst); then look into inbox, backlog and stop flag
///      once more; if there is anything, --idle_ and go on.
///   2. To wake, after pushing to the inbox (seq_cst): if idle_ != 0 (seq_cst), take the mutex and
///      wake one, unless one searches already. The waker does --idle_. Who searches is awake, and
///      looks into inbox and backlog, under the mutex, before it ends its search by sleeping.
///
/// Before that, if the options say so, one worker at a time spins: awake, it looks for what others
/// post or leave, and for events. It gives up when nobody else is awake and no work is left.
///
/// **Share.** A worker that has more queued than `surplus_` wakes one other, the searcher, which
/// steals; one at a time. A search that finds nothing doubles `surplus_`, one that does resets it:
/// short handlers are not worth a wake-up.
///
/// **Watch.** What waits behind a handler that blocks (P9): operations in that worker's local
/// queue, and the driver nobody polls. So while any worker is awake with such, one of those asleep
/// is the watcher: it sleeps for `watch_interval` only, and if a worker has taken nothing in an
/// interval it takes what that one has queued; it becomes the poller if nobody has polled in one.
/// Workers that have no time to sleep look as well, between turns (worker::turn_), those that have
/// plenty to do once per interval.
/// When it finds all others asleep it stops watching. A worker that goes to sleep while another is
/// awake watches, unless somebody does; one that is awake and leaves something behind its handler
/// while others sleep and nobody watches asks one to; and so does one that stops watching because
/// it has found something to run, or leaves, while others are awake.
///
/// **Foreign loop.** Once a loop that is not ours waits for the driver (serve_foreign_loop), it
/// stands for a poller asleep while no worker is here. The last worker to leave polls once more,
/// arms the driver, and counts the loop in `idle_`, as in 1; whoever wakes it, through the driver,
/// or the next worker to enter takes it out.
///
/// **Work.** `outstanding_` counts the operations that are under way elsewhere, and work guards.
/// What is queued here is not counted: as long as anything is in the inbox or the backlog there is
/// work, and a worker with something in its local queue is awake. An awake worker holds a credit,
/// far larger than any count, and collects its changes in work_; it gives back both before it
/// sleeps or leaves. Whoever finds none left, and nothing queued, stops the scheduler.
///
/// Lock order: an I/O object's lock, then the driver's, then mutex_, then a worker's biased lock.
/// No handler runs under any.
class scheduler final : public execution_context::service {
 public:
  using clock = scheduler_atomics::clock;

  /// For a context that has none: run by a thread of its own.
  explicit scheduler(execution_context& context);
  scheduler(execution_context& context, const scheduler_options& options);
  ~scheduler();

  const scheduler_options& options() const noexcept { return options_; }
  /// Whether locks may be biased that a thread which is no worker revokes.
  bool may_bias() const noexcept {
    return options_.membarrier && scheduler_atomics::barriers_available();
  }

  std::size_t run();
  std::size_t run_one();
  std::size_t run_until(clock::time_point deadline);
  std::size_t run_one_until(clock::time_point deadline);
  std::size_t poll();
  std::size_t poll_one();
  std::size_t poll_until(clock::time_point deadline);
  void stop() noexcept;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
  void restart() noexcept;

  void post(operation* op) noexcept;
  /// The same, of what continues the handler that calls this.
  void defer(operation* op) noexcept;
  void complete(operation* op) noexcept;
  /// The same, of what the handler that calls this has made ready: it continues that.
  void complete_next(operation* op) noexcept;
  void complete(operation_queue& ops) noexcept;
  /// The same, of an operation that was not counted as work before: it ended as it was started.
  void complete_uncounted(operation* op) noexcept;
  void work_started() noexcept {
    if (worker* const w = worker::current(*this)) [[likely]]
      ++w->work_;
    else
      outstanding_.fetch_add(1, std::memory_order_relaxed);
  }
  void work_finished() noexcept;

  /// Whether the calling thread is the only one that runs operations here: what it has prepared it
  /// may submit later, at its next poll.
  bool alone() const noexcept {
    return worker::current(*this) && !several_.load(std::memory_order_relaxed);
  }
  /// Whether besides it has little queued: less than a turn.
  bool alone_and_idle() const noexcept {
    return alone() && worker::current(*this)->local_.size() < worker::poll_interval;
  }

  /// The calling thread, which is in run(), is about to wait for what nobody is known to bring.
  /// False if all others do so already. Otherwise `unblock` is to follow.
  bool try_block() noexcept;
  void unblock() noexcept;

  /// From now on events come from `driver`; null ends that.
  void set_driver(driver* driver) noexcept;

  /// From now on a foreign loop waits for the driver, which calls this, while no worker is here.
  void serve_foreign_loop() noexcept;

  // ---- for those who look in from outside (observe/)

  /// Begins or ends to measure a sample of the operations. Throws std::bad_alloc.
  void measure(bool on);
  /// Has origins noted and found, until ended as often as begun. Throws std::bad_alloc.
  void begin_origins();
  void end_origins() noexcept;
  /// What was measured; null if nothing ever was. It stays until the scheduler's end.
  const observation* measured() const noexcept;

  /// Calls `f(worker)` for each that is in run(), under the mutex: it must be short. Returns what
  /// all those that have left did.
  template <class F>
  worker_counts look(F f) const {
    const lock l(mutex_);
    for (const worker* w = workers_; w; w = w->next_)
      f(*w);
    return left_;
  }

  void add(observer& o) noexcept;
  void remove(observer& o) noexcept;
  /// Whether all workers sleep; if so, `o` is told when one wakes.
  bool all_asleep(observer& o) noexcept;

  /// Has threads of its own run it, which the child of a fork starts anew when it is told. Not
  /// beside one another.
  void start_threads(std::size_t count);
  /// Whether it, and its threads, are of this process, not of the parent of a fork.
  bool is_here() const noexcept { return own_threads_.is_here(); }
  /// Waits until they have returned.
  void join_threads() noexcept;
  /// Stops it and joins them, if it has any.
  void stop_threads() noexcept;
  /// The same when the process ends; that may be in one of them.
  void stop_threads_at_exit() noexcept;

 private:
  friend class scheduler_model;  // its invariants, in tests/model/scheduler_test.cpp

  template <class T>
  using atomic = scheduler_atomics::atomic<T>;
  enum class wait : bool { no, yes };
  struct stay;

  void forget_the_dead() noexcept;

  static constexpr auto no_deadline = clock::time_point::max();
  static constexpr std::int64_t credit = std::int64_t(1) << 40;
  static constexpr std::size_t cache_line = 64;
  static constexpr unsigned min_surplus = 2;
  static constexpr unsigned max_surplus = 64;
  static constexpr std::size_t largest_batch = 64;  // segments
  static constexpr std::chrono::microseconds watch_interval{1000};

  void shutdown() override;
  void notify_fork(execution_context::fork_event event) override;

  void enter(worker& w) noexcept;
  void leave(worker& w) noexcept;
  operation* take(worker& w) noexcept;  // inline in scheduler.cpp
  operation* find(worker& w, wait mode, clock::time_point deadline) noexcept;
  std::size_t run_all(wait mode, clock::time_point deadline);
  std::size_t run_single(wait mode, clock::time_point deadline);
  void check_thread() noexcept;

  using lock = std::unique_lock<scheduler_atomics::mutex>;

  bool settle(worker& w) noexcept;
  void set_stopped(bool value) noexcept;  // under mutex_
  void set_attention() noexcept;          // under mutex_
  void woke() noexcept;
  observation& observation_locked();
  void set_observed() noexcept;
  void run(worker& w, operation* op);

  // Queues.
  void post_from_outside(operation* op) noexcept;
  void push(worker& w, operation* op) noexcept;  // inline in queues.cpp
  void push_next(worker& w, operation* op) noexcept;
  void push_next_of_several(worker& w, operation* op) noexcept;
  void push_attentive(worker& w, operation* op) noexcept;
  void push_entered(worker& w, operation* op) noexcept;
  void push_locked(worker& w, operation* op) noexcept;
  void push_from_outside(operation* op) noexcept;
  void make_segment() noexcept;
  std::size_t take_inbox(segmented_queue& into) noexcept;
  void note_queued(operation* op) noexcept;
  void share(worker& w) noexcept;
  operation* take_slowly(worker& w) noexcept;
  operation* take_elsewhere(worker& w) noexcept;
  void look_around(worker& w, clock::time_point deadline) noexcept;
  // Under mutex_.
  void take_batch(worker& w) noexcept;
  void give_backlog(worker& w) noexcept;
  bool steal(worker& w) noexcept;
  void steal_stalled(worker& w) noexcept;
  bool steal_from(worker& victim, worker& w) noexcept;
  bool is_single(const worker& w) const noexcept { return threads_ == 1 && workers_ == &w; }
  bool nothing_queued() noexcept;
  bool nobody_polls() const noexcept;

  // Sleep; all under mutex_ but wake_if_idle.
  bool idle(worker& w, wait mode, clock::time_point deadline) noexcept;
  bool spin(worker& w, clock::time_point deadline) noexcept;  // takes mutex_
  bool look_for_share(const worker& w) const noexcept;
  bool poll(worker& w, wait mode, clock::time_point deadline, lock& l) noexcept;
  void receive(worker& w, operation_queue& ready) noexcept;
  void park(worker& w, clock::time_point deadline, lock& l) noexcept;
  void end_search(worker& w, bool found) noexcept;
  void wake_one() noexcept;
  void wake_searcher() noexcept;
  void wake_all() noexcept;
  void arm(worker& w, lock& l) noexcept;
  void foreign_loop_sleeps() noexcept;
  void foreign_loop_wakes() noexcept;
  void wake_foreign_loop() noexcept;
  void wake_if_idle() noexcept;
  void wake_poller() noexcept;
  void unpark(worker& w) noexcept;
  void list(worker& w) noexcept;
  void unlist(worker& w) noexcept;

  // Watch; all under mutex_.
  void watch(worker& w) noexcept;
  void end_watch() noexcept;
  void ensure_watch() noexcept;
  bool look_for_stalled() noexcept;

  const scheduler_options options_;
  const bool biased_;  // workers' locks: as a single thread needs no barrier, or there is one

  // Read by every worker, written seldom.
  atomic<bool> attention_{false};  // whether stopped_ or observed_; written under mutex_
  atomic<bool> stopped_{false};
  atomic<bool> several_{false};    // several threads; written under mutex_
  atomic<bool> searching_{false};  // one was woken to search; written under mutex_
  atomic<bool> watching_{false};   // one watches; written under mutex_
  atomic<int> idle_{0};
  atomic<unsigned> surplus_{min_surplus};
  atomic<driver*> driver_{nullptr};  // written under mutex_
  // observation_ while it is wanted; written under mutex_. Not of scheduler_atomics: whether an
  // operation is observed or not makes no difference to it.
  std::atomic<observation*> observed_{nullptr};

  alignas(cache_line) inbox inbox_;
  alignas(cache_line) atomic<std::int64_t> outstanding_{0};

  alignas(cache_line) mutable scheduler_atomics::mutex mutex_;
  // Guarded by mutex_.
  segmented_queue backlog_;
  worker* workers_ = nullptr;   // all that are in run(), the latest first
  unsigned threads_ = 0;        // whose these are: a thread has several if calls are nested
  unsigned blocked_ = 0;        // threads that wait for what nobody is known to bring
  worker* parked_ = nullptr;    // those asleep but the poller and the watcher, the latest first
  worker* watcher_ = nullptr;   // the parked worker or the poller that watches
  worker* poller_ = nullptr;    // in driver_->poll
  bool poller_asleep_ = false;  // it may sleep there, and nobody has woken it yet
  bool spinning_ = false;       // a worker spins
  bool has_foreign_loop_ = false;
  bool foreign_asleep_ = false;    // no worker is here, and nobody has woken the foreign loop
  bool arming_ = false;            // the last worker is arming the driver
  unsigned awake_ = 0;             // workers that do not sleep
  unsigned polls_ = 0;             // how often a worker has polled
  unsigned seen_polls_ = 0;        // polls_ at the last look
  clock::time_point last_look_{};  // when somebody last looked for what is stalled
  std::uint64_t entries_ = 0;      // calls of run() and its siblings, for their fairness to events
  worker_counts left_;             // of the workers that have left
  std::unique_ptr<observation> observation_;
  unsigned origins_wanted_ = 0;
  observer* observers_ = nullptr;

  atomic<std::thread::id> bound_thread_{};  // with single_thread: the one allowed
  thread_group own_threads_;

  union worker_memory {
    worker_memory() noexcept {}
    ~worker_memory() {}
    worker object;
  };
  worker_memory* const first_ = new worker_memory;  // of one worker; others are allocated
  std::atomic_flag first_is_taken_;
};

}  // namespace WEFT_NAMESPACE::detail
