// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include <weft/base/word_mutex.hpp>
#include <weft/coro/blocking.hpp>
#include <weft/execution/execution_context.hpp>

#include "base/fork_order.hpp"

namespace WEFT_NAMESPACE::detail {

template <class T>
union never_destroyed;

/// The calls whose handlers a context has: it destroys what has not begun when it ends, and waits
/// for what has. All is guarded by the lock of the threads.
class blocking_service final : public execution_context::service {
 public:
  using key_type = blocking_service;
  explicit blocking_service(execution_context& context) : service(context) {}

 private:
  friend class blocking_threads;
  void shutdown() noexcept override;
  void notify_fork(execution_context::fork_event event) override;

  std::size_t begun_ = 0;
};

/// The threads of the process that may be blocked.
///
/// One mutex, held for O(1), but at the end of a context for a walk of what is queued. A call that
/// has been performed is completed without it, and only then counted out of its service: until
/// then its context stays.
///
/// A fork takes that mutex and those of the servers: so in the child each call is queued, or was
/// under way, or is completed. It has none of the threads. What was under way there goes on in the
/// parent alone: in the child it is lost, and reports operation_aborted when its context is told of
/// the fork.
class blocking_threads {
 public:
  static constexpr std::size_t most = 512;

  /// They are never destroyed: calls may be under way when main has returned.
  static blocking_threads& get() noexcept;

  /// False if it was performed at once.
  bool submit(blocking_call& call) noexcept;
  void cancel(blocking_call& call) noexcept;
  void end(blocking_service& service) noexcept;
  /// In the child of a fork.
  void go_on(blocking_service& service) noexcept;

 private:
  /// A thread of these. `mutex` guards `call` from when that has been performed.
  struct server {
    server* next = nullptr;
    blocking_service* service = nullptr;  // until the call is counted out
    word_mutex mutex;                     // one of many: see fork_order.hpp
    blocking_call* call = nullptr;        // under way
  };

  friend union never_destroyed<blocking_threads>;

  [[gnu::constructor(fork_locks)]] static void hold_around_forks() noexcept;

  blocking_threads() noexcept = default;
  void lock_for_fork() noexcept;
  void unlock_in_parent() noexcept;
  void begin_in_child() noexcept;
  void take_lost(blocking_service& service, operation_queue& to) noexcept;
  void push(blocking_call& call) noexcept;
  void unlink(blocking_call& call) noexcept;
  bool start_thread() noexcept;
  static void* run(void* self) noexcept;
  void serve() noexcept;
  void leave(server& self) noexcept;

  static constinit thread_local server* current;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable performed_;
  blocking_call* front_ = nullptr;
  blocking_call* back_ = nullptr;
  blocking_call* lost_ = nullptr;  // by a fork
  server* servers_ = nullptr;
  std::size_t queued_ = 0;
  std::size_t owed_ = 0;  // threads, after a fork: those there were for queued calls
  std::size_t idle_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
