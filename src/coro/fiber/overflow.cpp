// SPDX-License-Identifier: BSL-1.0
#include "coro/fiber/overflow.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include <weft/coro/fiber/fiber_base.hpp>

#include "base/fork_order.hpp"
#include "coro/fiber/stack_memory.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

std::atomic<bool> ignored{false};
struct sigaction previous;  // written before the handler is installed that reads it

/// A line of text that is put together without allocating.
class message {
 public:
  message& operator<<(const char* text) noexcept {
    while (*text && used_ != sizeof(text_))
      text_[used_++] = *text++;
    return *this;
  }
  message& operator<<(std::size_t number) noexcept {
    char digits[24];
    char* at = digits + sizeof(digits);
    *--at = '\0';
    do
      *--at = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return *this << at;
  }
  void write() const noexcept { (void)!::write(STDERR_FILENO, text_, used_); }

 private:
  char text_[512];
  std::size_t used_ = 0;
};

void report(const fiber_base& fiber) noexcept {
  const std::source_location& where = fiber.where_spawned();
  message text;
  text << "weft: a fiber has overflowed its stack of " << fiber.context().size()
       << " bytes. It was spawned at " << where.file_name() << ":"
       << static_cast<std::size_t>(where.line()) << " in " << where.function_name()
       << ". Give spawn a larger stack_size.\n";
  text.write();
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  if (previous.sa_flags & SA_SIGINFO)
    return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  // What caused it is done again when this handler has returned; a signal that was sent is sent
  // again.
  ::sigaction(signal, &previous, nullptr);
  if (info->si_code <= 0)
    ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (const fiber_base* const fiber = running_fiber(); fiber && info->si_code > 0) {
    const auto limit = reinterpret_cast<std::uintptr_t>(fiber->context().limit());
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (at < limit && limit - at <= page_size())
      report(*fiber);
  }
  pass_on(signal, info, context);
}

bool install() noexcept {
  struct sigaction action{};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  page_size();
  return ::sigaction(SIGSEGV, nullptr, &previous) == 0 &&
         ::sigaction(SIGSEGV, &action, nullptr) == 0;
}

enum class handler : unsigned char { untried, installed, refused };
constinit std::atomic<handler> our_handler{handler::untried};
constinit std::mutex installing;  // held to install it

[[gnu::constructor(fork_locks)]] void hold_around_forks() noexcept {
  const auto unlock = [] { installing.unlock(); };
  ::pthread_atfork([] { installing.lock(); }, unlock, unlock);
}

bool is_installed() noexcept {
  if (our_handler.load(std::memory_order_acquire) == handler::untried) [[unlikely]] {
    const std::lock_guard lock(installing);
    if (our_handler.load(std::memory_order_relaxed) == handler::untried)
      our_handler.store(install() ? handler::installed : handler::refused,
                        std::memory_order_release);
  }
  return our_handler.load(std::memory_order_relaxed) == handler::installed;
}

/// The alternative signal stack of a thread that has none of its own.
class signal_stack {
 public:
  signal_stack() noexcept {
    stack_t present;
    if (::sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE))
      return;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return;
    stack_t own{};
    own.ss_sp = memory;
    own.ss_size = size;
    if (::sigaltstack(&own, nullptr) == 0)
      memory_ = memory;
    else
      ::munmap(memory, size);
  }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;
  ~signal_stack() {
    if (!memory_)
      return;
    stack_t present;
    if (::sigaltstack(nullptr, &present) == 0 && present.ss_sp != memory_)
      return;  // somebody else has put another in its place, and may put it back
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (::sigaltstack(&none, nullptr) == 0)
      ::munmap(memory_, size);
  }

 private:
  static constexpr std::size_t size = 64 * 1024;
  void* memory_ = nullptr;
};

}  // namespace

void watch_for_overflow() noexcept {
  if (ignored.load(std::memory_order_relaxed))
    return;
  if (is_installed())
    static thread_local const signal_stack stack;
}

void ignore_overflow() noexcept {
  ignored.store(true, std::memory_order_relaxed);
}

}  // namespace WEFT_NAMESPACE::detail
