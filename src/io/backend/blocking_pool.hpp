// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// Helper threads for operations whose kind is `blocking`: what may block (a file, a directory)
/// and what the backend cannot hand to the kernel.
///
/// The pool owns no thread until it is used; a thread that stays idle for a while ends. Helpers
/// block all signals, so that none of the program's handlers runs on one.
///
/// States of an operation here: queued -> begun -> performed -> taken. Operations are begun in the
/// order they were submitted; those begun run side by side.
///
/// **The poller** takes the results, as it takes those of the kernel. It sees to the pool
/// (`attended_`) while it is awake and knows that it has to look here before it sleeps, and while
/// its sleep is short, after which it looks again. It is woken
/// 1. from a short sleep once (`poller_sleeps_`), when the helpers are about to run out of
///    operations or were slow: until then quick results are kept;
/// 2. for every result while it does not see to the pool: from a sleep without limit, before which
///    it found nothing here, or only what is late; and if nobody has polled since the submission,
///    unless the submitter said that it polls next.
///
/// A submitter may be wrong in that: while it was the only thread, another may have come and sleep.
/// So the poller says that it is about to sleep without limit (`endless_`) before it looks whether
/// anything is pending, which it does without the mutex; a submitter counts its operation before it
/// reads that, and if it reads it, the poller does not see to the pool. Each of the four is
/// sequentially consistent: at least one of the two sees what the other has written. That a sleep
/// has ended may be seen late: it costs a wake-up.
///
/// **Who begins.** Quick operations gain nothing from more helpers than there are processors, only
/// wake-ups; slow ones lose by waiting for each other. So while the poller sees to the pool no
/// more than that are busy, unless an operation was slow; then all that are allowed may be, until
/// some in a row were not. The poller looks for operations that are late: they count no more, and
/// others are begun; it also tries again to start a helper that could not be. One helper at most
/// looks for operations, or is on its way; when it takes one and leaves others, it calls the next.
/// One that has run out of operations looks for a while before it sleeps.
///
/// Locking: one mutex, held for O(1) (O(threads) when the poller looks), never while `perform` or
/// the waker runs. Callers may hold locks of their own around `cancel` and `end_await`.
///
/// Thread safety: `submit`, `cancel`, `await`, `end_await` and `pending` from any thread,
/// `before_sleep` and `after_sleep` by one at a time. The others may not run beside them.
class WEFT_API blocking_pool {
 public:
  /// Ends the poller's sleep. Called on a helper thread, or by submit.
  using waker = void (*)(void* context) noexcept;

  static constexpr unsigned most_threads = 64;
  static constexpr unsigned default_threads = 8;
  /// How often a helper that has nothing to do yields the processor before it sleeps.
  static constexpr int search_yields = 64;
  static constexpr std::chrono::milliseconds default_idle_time{10'000};
  /// In nanoseconds: what takes so long is slow, or late; and how often the poller looks.
  static constexpr std::int64_t slow = 100'000;
  static constexpr std::int64_t late = 500'000;
  /// After a slow operation, so many are expected to be.
  static constexpr unsigned slow_memory = 8;
  /// So many results are kept at most from a poller that sleeps.
  static constexpr unsigned most_kept = 16;

  /// `max_threads` is brought into 1..most_threads.
  blocking_pool(waker wake, void* context, unsigned max_threads = default_threads,
                std::chrono::milliseconds idle_time = default_idle_time) noexcept;
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;

  /// Shuts down. What had not begun, and results that nobody has taken, are destroyed.
  ~blocking_pool();

  /// Queues an operation: `op->kind().perform(*op)` is called on a helper, or before submit returns
  /// if no helper lives and none can be started. `attended`: the caller polls next.
  void submit(io_operation* op, bool attended = false) noexcept;

  /// Takes back an operation that was submitted and whose result has not been taken. True: it had
  /// not begun and is the caller's again. False: it is or will be a result. O(1).
  bool cancel(io_operation* op) noexcept;

  /// Whether there are operations that were submitted and have not been taken. A hint.
  bool pending() const noexcept { return pending_.load(std::memory_order_relaxed) != 0; }

  /// The poller is about to sleep: for how many nanoseconds at most. 0: there are results.
  std::int64_t before_sleep() noexcept;
  /// The poller is awake, or has not slept: moves the results to `results`.
  void after_sleep(operation_queue& results) noexcept;

  /// The results; waits until there are any, or `awaited` is 0 and `end_await` was called since.
  operation_queue await(const std::atomic<unsigned>& awaited) noexcept;
  void end_await() noexcept;

  /// Waits until all that had begun is performed and the helpers have ended; returns what had not
  /// begun. Afterwards the pool may be used anew.
  operation_queue shutdown() noexcept;

  /// Around fork(), as of execution_context::notify_fork. In between the pool must not be used.
  /// The child, which has none of the helpers, begins what they had under way again when
  /// `begin_again` is called.
  void fork_prepare() noexcept { mutex_.lock(); }
  void fork_parent() noexcept { mutex_.unlock(); }
  void fork_child() noexcept;
  void begin_again() noexcept;

  /// How many helpers live.
  std::size_t threads() const noexcept;

 private:
  /// A place for one helper. `ended` threads have left the pool's care and only need joining.
  struct slot {
    enum class state : unsigned char { empty, running, ended };
    blocking_pool* pool = nullptr;
    io_operation* op = nullptr;  // what it has begun
    std::int64_t begun = 0;      // when (steady)
    pthread_t thread{};
    state what = state::empty;
    bool is_late = false;  // with that operation: not counted in busy_
  };
  using guard = std::unique_lock<std::mutex>;

  void lock(guard& g) noexcept;
  guard lock() noexcept;
  void push_back(io_operation* op) noexcept;
  io_operation* pop_front() noexcept;
  void unlink(io_operation* op) noexcept;
  bool may_begin() const noexcept;
  bool lacks_helper() const noexcept;
  void call_searcher() noexcept;
  bool call_helper() noexcept;
  bool start_thread() noexcept;
  static void* run(void* slot) noexcept;
  void serve(slot& self) noexcept;
  void search(guard& g) noexcept;
  void perform_all(slot& self, guard& g) noexcept;
  bool keep(io_operation* op, bool was_slow) noexcept;
  bool sleep(guard& g) noexcept;
  void take(operation_queue& results) noexcept;
  void look() noexcept;

  const waker wake_poller_;
  void* const context_;
  const unsigned max_threads_;
  const unsigned processors_;
  const std::chrono::milliseconds idle_time_;

  mutable std::mutex mutex_;  // guards all below, as far as it is not atomic
  union {
    std::condition_variable wake_;  // a child process starts its own; see fork_child
  };
  union {
    std::condition_variable performed_;
  };
  io_operation* front_ = nullptr;
  io_operation* back_ = nullptr;
  std::atomic<unsigned> queued_{0};   // written under the mutex
  std::atomic<unsigned> pending_{0};  // not yet taken; written under the mutex
  std::atomic<bool> endless_{false};  // the poller's sleep; written by the poller only
  operation_queue kept_;              // results
  unsigned kept_count_ = 0;
  unsigned idle_ = 0;
  unsigned running_ = 0;
  unsigned busy_ = 0;           // at an operation that is not late
  unsigned expected_slow_ = 0;  // so many operations
  unsigned awaiting_ = 0;       // calls of await
  bool searching_ = false;      // a helper looks for operations, or has been woken or started to
  bool called_ = false;         // it has been woken for that, and has not noticed
  bool attended_ = false;       // the poller sees to the pool
  bool poller_sleeps_ = false;  // it sleeps while it does, and nobody has woken it
  std::int64_t last_look_ = 0;  // steady
  bool stopping_ = false;
  slot slots_[most_threads];
};

}  // namespace WEFT_NAMESPACE::detail
