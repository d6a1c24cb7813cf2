// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <csignal>

#include <atomic>
#include <mutex>

#include <weft/io/signal_set_state.hpp>

#include "base/fork_order.hpp"
#include "base/home_process.hpp"

namespace WEFT_NAMESPACE::detail {

/// A signal in a set: in the set's list, and in the list of all registrations of the signal.
struct signal_registration {
  int signal_number;
  signal_set_state* set;
  unsigned long undelivered = 0;         // notifications that no wait has taken
  signal_registration* next = nullptr;   // in the set, by ascending signal number
  signal_registration* other = nullptr;  // of the same signal
};

/// How a signal wakes a context: an eventfd that the signal handler writes to and the context
/// watches, by way of a duplicate. Bells are used again but never freed or closed, since a signal
/// handler may be about to write.
struct signal_bell {
  std::atomic<int> fd{-1};
  std::atomic<bool> in_use{false};  // the handler may leave out the others
  signal_bell* next = nullptr;
};

/// The signals of the process: who has registered what, and what has been raised.
///
/// A signal handler can do little: it counts the signal in an atomic and rings the bell of every
/// context with sets. Whichever context runs first takes the counts and hands them to all sets of
/// all contexts. What is raised while no context runs stays counted.
///
/// One lock for everything but counts and bells, taken before those of I/O objects and schedulers.
class signal_registry {
 public:
  /// The process's; never destroyed, since a signal may come at any time.
  static signal_registry& get() noexcept;

  /// A bell for a context; null and an error if there is no descriptor or memory.
  signal_bell* take_bell(error_code& ec) noexcept;
  void return_bell(signal_bell& bell) noexcept;
  /// In the child of a fork: bells of its own, once for all contexts.
  void after_fork() noexcept;

  void attach(signal_set_state& set) noexcept;
  void detach(signal_set_state& set) noexcept;
  error_code add(signal_set_state& set, int signal_number, signal_set_base::flags flags) noexcept;
  error_code remove(signal_set_state& set, int signal_number) noexcept;
  void clear(signal_set_state& set) noexcept;
  void cancel(signal_set_state& set) noexcept;
  void start(signal_set_state& set, signal_wait_operation* op) noexcept;
  void cancel(signal_wait_operation* op) noexcept;

  /// The lock that guards the fields of sets, waits and services.
  std::mutex& mutex() noexcept { return mutex_; }
  /// Hands out what has been raised. Locked.
  void deliver() noexcept;
  /// Takes the waits of a set out of it. Locked.
  void withdraw(signal_set_state& set, operation_queue& out) noexcept;

 private:
  static constexpr int signal_count = NSIG;

  struct entry {
    signal_registration* first = nullptr;
    signal_set_base::flags flags = signal_set_base::flags::dont_care;
    struct sigaction previous{};
  };

  [[gnu::constructor(fork_locks)]] static void hold_around_forks() noexcept;
  static void raised(int signal_number) noexcept;
  void renew_bells() noexcept;
  error_code install(int signal_number, signal_set_base::flags flags) noexcept;
  void uninstall(int signal_number) noexcept;
  void drop(signal_registration* registration) noexcept;
  void remove_all(signal_set_state& set) noexcept;
  static bool take_notification(signal_set_state& set, int& signal_number) noexcept;
  static void complete(signal_wait_operation* op, const error_code& ec, int signal_number) noexcept;
  static void queue(signal_wait_operation* op, const error_code& ec, int signal_number) noexcept;
  static void unlink(signal_wait_operation* op) noexcept;

  // Counted by the signal handler, in any thread at any time; taken by deliver. The bell orders
  // them, so relaxed suffices.
  static inline std::atomic<unsigned> counts_[signal_count];
  // Written with the lock held (release), read by the signal handler (acquire): it sees the bell
  // that a pointer leads to.
  static inline std::atomic<signal_bell*> bells_{nullptr};

  std::mutex mutex_;
  entry entries_[signal_count];
  home_process process_ = home_process::first();  // whose bells they are
};

}  // namespace WEFT_NAMESPACE::detail
