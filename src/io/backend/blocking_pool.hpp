// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// Helper threads for operations whose kind is `blocking`: what may block (a file, a directory)
/// and what the backend cannot hand to the kernel.
///
/// The pool owns no thread until it is used; a thread that stays idle for a while ends. Helpers
/// block all signals, so that none of the program's handlers runs on one.
///
/// Whenever operations are queued, one helper is on its way to them, if one idles or can be
/// started; and it is one at most, so that quick operations cost no wake-up each. When it takes one
/// and leaves others, it calls the next helper; when there is none, it looks for a while before it
/// sleeps.
///
/// States of an operation here: queued -> begun -> done. Operations are begun in the order they
/// were submitted; those begun run side by side.
///
/// Locking: one mutex, held for O(1) and never while `perform` or `done` runs. Callers may hold
/// locks of their own around `cancel` and `size`; around `submit` only such as `done` does not
/// take.
///
/// Thread safety: `submit` and `cancel` may be called from any thread. The others may not run
/// beside them.
class WEFT_API blocking_pool {
 public:
  /// Hears of each operation performed, on the helper thread; the operation is then the
  /// listener's.
  using completion = void (*)(void* context, io_operation* op) noexcept;

  static constexpr unsigned most_threads = 64;
  static constexpr unsigned default_threads = 8;
  /// How often a helper that has nothing to do yields the processor before it sleeps.
  static constexpr int search_yields = 64;
  static constexpr std::chrono::milliseconds default_idle_time{10'000};

  /// `max_threads` is brought into 1..most_threads.
  blocking_pool(completion done, void* context, unsigned max_threads = default_threads,
                std::chrono::milliseconds idle_time = default_idle_time) noexcept;
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;

  /// Shuts down. What had not begun is destroyed.
  ~blocking_pool();

  /// Queues an operation: `op->kind().perform(*op)` and then `done` are called on a helper. If no
  /// helper lives and none can be started, they are called before submit returns.
  void submit(io_operation* op) noexcept;

  /// Takes back an operation that was submitted and whose `done` has not been called. True: it had
  /// not begun and is the caller's again. False: it will be, or is being, performed, and `done`
  /// follows. O(1).
  bool cancel(io_operation* op) noexcept;

  /// Waits until all that had begun is done and the helpers have ended; returns what had not begun,
  /// also what `done` submitted meanwhile. Afterwards the pool may be used anew.
  operation_queue shutdown() noexcept;

  /// Around fork(), as of execution_context::notify_fork. In between the pool must not be used.
  /// The child, which has none of the helpers, begins again what they had under way.
  /// fork_prepare waits for calls of `done` to return, so hold no lock that `done` takes.
  void fork_prepare() noexcept;
  void fork_parent() noexcept { mutex_.unlock(); }
  void fork_child() noexcept;

  /// How many helpers live.
  std::size_t threads() const noexcept;

 private:
  /// A place for one helper. `ended` threads have left the pool's care and only need joining.
  struct slot {
    enum class state : unsigned char { empty, running, ended };
    blocking_pool* pool = nullptr;
    io_operation* op = nullptr;  // what it has begun
    pthread_t thread{};
    state what = state::empty;
  };

  void push_back(io_operation* op) noexcept;
  io_operation* pop_front() noexcept;
  void unlink(io_operation* op) noexcept;
  bool call_helper() noexcept;
  bool start_thread() noexcept;
  static void* run(void* slot) noexcept;
  void serve(slot& self) noexcept;
  void search(std::unique_lock<std::mutex>& lock) noexcept;
  void perform_front(slot& self, std::unique_lock<std::mutex>& lock) noexcept;
  bool sleep(std::unique_lock<std::mutex>& lock) noexcept;

  const completion done_;
  void* const context_;
  const unsigned max_threads_;
  const std::chrono::milliseconds idle_time_;

  mutable std::mutex mutex_;  // guards all below
  union {
    std::condition_variable wake_;  // a child process starts its own; see fork_child
  };
  std::condition_variable reported_;
  io_operation* front_ = nullptr;
  io_operation* back_ = nullptr;
  std::atomic<unsigned> queued_{0};  // written under the mutex
  unsigned idle_ = 0;
  unsigned running_ = 0;
  unsigned reporting_ = 0;  // helpers that have performed an operation and are calling done
  bool searching_ = false;  // a helper looks for operations, or has been woken or started to
  bool called_ = false;     // it has been woken for that, and has not noticed
  bool stopping_ = false;
  slot slots_[most_threads];
};

}  // namespace WEFT_NAMESPACE::detail
