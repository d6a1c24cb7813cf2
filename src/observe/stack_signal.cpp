// SPDX-License-Identifier: BSL-1.0
#include "observe/stack_signal.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include <weft/base/clock.hpp>
#include <weft/base/error.hpp>

#include "base/fork_order.hpp"

namespace WEFT_NAMESPACE::observe {
namespace {

/// The one question and its answer. Written by who asks while `state` is idle; by the thread that
/// is asked while it is answering. The changes of `state` release and acquire the rest.
struct exchange {
  enum : int { idle, asked, answering, answered };

  std::atomic<int> state{idle};
  std::atomic<pthread_t> thread{};  // who is asked: a late answer of another is none
  stack_signal::question::condition only_if{};
  std::array<void*, 64> frames{};
  int count = 0;
  const void* interrupted_at = nullptr;
};

constinit exchange the_exchange;
constinit std::mutex right_to_ask;

/// What was there before our handler. Written before that is installed.
struct installation {
  unsigned users = 0;
  std::atomic<unsigned> underway{0};  // questions sent and not delivered; a dead thread's stay so
  struct sigaction before{};

  void arrived() noexcept {
    unsigned n = underway.load(std::memory_order_relaxed);
    while (n != 0 && !underway.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) {}
  }
};
constinit std::mutex installations_mutex;
std::array<installation, NSIG> installations;

// The right to ask is not waited for, since who has it may wait for an answer: the child, which has
// no thread that asks, has it anew.
[[gnu::constructor(detail::fork_locks)]] void hold_around_forks() noexcept {
  ::pthread_atfork([] { installations_mutex.lock(); }, [] { installations_mutex.unlock(); },
                   [] {
                     installations_mutex.unlock();
                     std::construct_at(&right_to_ask);
                     for (installation& each : installations) {  // whose users are in the parent
                       each.users = 0;
                       each.underway.store(0, std::memory_order_relaxed);
                     }
                     the_exchange.state.store(exchange::idle, std::memory_order_relaxed);
                   });
}

const void* program_counter(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  static_cast<void>(machine);
  return nullptr;
#endif
}

void answer_question(const void* context) noexcept {
  exchange& e = the_exchange;
  if (!pthread_equal(e.thread.load(std::memory_order_relaxed), pthread_self()))
    return;
  int expected = exchange::asked;
  if (!e.state.compare_exchange_strong(expected, exchange::answering, std::memory_order_acquire,
                                       std::memory_order_relaxed))
    return;
  e.interrupted_at = program_counter(context);
  e.count = e.only_if.holds(e.only_if.argument)
                ? ::backtrace(e.frames.data(), static_cast<int>(e.frames.size()))
                : 0;
  e.state.store(exchange::answered, std::memory_order_release);
}

bool has_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// Whether the process would be ended or stopped.
bool acts_by_default(int number, const struct sigaction& action) noexcept {
  return action.sa_handler == SIG_DFL && number != SIGURG && number != SIGCHLD &&
         number != SIGWINCH && number != SIGCONT;
}

void on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  installation& mine = installations[static_cast<std::size_t>(number)];
  if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &the_exchange) {
    mine.arrived();
    answer_question(context);
  } else if (has_handler(mine.before)) {
    if (mine.before.sa_flags & SA_SIGINFO)
      mine.before.sa_sigaction(number, info, context);
    else
      mine.before.sa_handler(number);
  }
  errno = saved;
}

bool is_ours(int number) noexcept {
  struct sigaction present{};
  return ::sigaction(number, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) &&
         present.sa_sigaction == &on_signal;
}

}  // namespace

stack_signal::stack_signal(int number) : number_(number) {
  // The first backtrace loads a library, which allocates: not in a signal handler.
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), 1);
  const std::lock_guard lock(installations_mutex);
  const bool possible = number > 0 && number < NSIG;
  installation* const mine = possible ? &installations[static_cast<std::size_t>(number)] : nullptr;
  if (mine && (mine->users != 0 || is_ours(number))) {
    ++mine->users;
    return;
  }
  if (mine && ::sigaction(number, nullptr, &mine->before) == 0) {
    if (acts_by_default(number, mine->before))
      detail::throw_error(make_error_code(error::invalid_argument),
                          "stall_detector: signal without a handler, and not ignored by default");
    struct sigaction action{};
    action.sa_sigaction = &on_signal;
    action.sa_mask = mine->before.sa_mask;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (::sigaction(number, &action, nullptr) == 0) {
      mine->users = 1;
      return;
    }
  }
  detail::throw_error(make_error_code(error::invalid_argument), "stall_detector: signal");
}

stack_signal::~stack_signal() {
  const std::lock_guard lock(installations_mutex);
  installation& mine = installations[static_cast<std::size_t>(number_)];
  if (--mine.users != 0 || !is_ours(number_))
    return;
  // A handler of the program's would get what is still underway; where the signal is to be ignored,
  // the system drops that.
  if (has_handler(mine.before) && mine.underway.load(std::memory_order_relaxed) != 0)
    return;
  ::sigaction(number_, &mine.before, nullptr);
  mine.underway.store(0, std::memory_order_relaxed);
}

stack_signal::question::question() : right_(right_to_ask) {}

void stack_signal::question::ask(const stack_signal& by, pthread_t thread,
                                 condition only_if) noexcept {
  if (is_asked_ || !is_ours(by.number_))
    return;
  the_exchange.only_if = only_if;
  the_exchange.thread.store(thread, std::memory_order_relaxed);
  the_exchange.state.store(exchange::asked, std::memory_order_release);
  installation& mine = installations[static_cast<std::size_t>(by.number_)];
  mine.underway.fetch_add(1, std::memory_order_relaxed);
  sigval value{};
  value.sival_ptr = &the_exchange;
  is_asked_ = ::pthread_sigqueue(thread, by.number_, value) == 0;
  if (!is_asked_) {
    mine.arrived();
    the_exchange.state.store(exchange::idle, std::memory_order_relaxed);
  }
}

std::vector<void*> stack_signal::question::answer() {
  if (!is_asked_)
    return {};
  exchange& e = the_exchange;
  for (int i = 0; i != 1000 && e.state.load(std::memory_order_acquire) != exchange::answered; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  int expected = exchange::asked;
  if (e.state.compare_exchange_strong(expected, exchange::idle, std::memory_order_relaxed))
    return {};
  while (e.state.load(std::memory_order_acquire) != exchange::answered)
    std::this_thread::yield();
  struct end_of_question {
    ~end_of_question() { the_exchange.state.store(exchange::idle, std::memory_order_relaxed); }
  } at_the_end;
  const auto end = e.frames.begin() + e.count;
  // The first are the handler's and the kernel's way to it.
  auto begin = std::find(e.frames.begin(), end, e.interrupted_at);
  if (begin == end)
    begin = e.frames.begin() + std::min(e.count, 2);
  return std::vector<void*>(begin, end);
}

}  // namespace WEFT_NAMESPACE::observe
