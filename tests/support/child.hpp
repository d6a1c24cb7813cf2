// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <latch>
#include <thread>
#include <vector>

#include <weft/execution/execution_context.hpp>

namespace weft_test {

/// Forks. The child ends with what f returns, as success or failure, or if it throws or hangs.
template <class F>
pid_t start_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t alarm;
    ::sigemptyset(&alarm);
    ::sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(100);
    ::_exit([&]() noexcept { return f(); }() ? 0 : 1);
  }
  EXPECT_NE(child, -1);
  return child;
}

/// The same, and tells the contexts of the fork.
template <class F, class... Contexts>
pid_t start_told_child(F f, Contexts&... contexts) {
  (contexts.notify_fork(weft::execution_context::fork_prepare), ...);
  const pid_t child = start_child([&] {
    (contexts.notify_fork(weft::execution_context::fork_child), ...);
    return f();
  });
  (contexts.notify_fork(weft::execution_context::fork_parent), ...);
  return child;
}

/// Waits for its end.
inline testing::AssertionResult has_succeeded(pid_t child) {
  int end = -1;
  pid_t ended = -1;
  do
    ended = ::waitpid(child, &end, 0);
  while (ended == -1 && errno == EINTR);
  if (ended == child && end == 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the child ended with status " << end;
}

template <class F>
testing::AssertionResult succeeds_in_a_child(F f) {
  return has_succeeded(start_child(f));
}

template <class F, class... Contexts>
testing::AssertionResult succeeds_in_a_told_child(F f, Contexts&... contexts) {
  return has_succeeded(start_told_child(f, contexts...));
}

/// Forks again and again while three threads call `use`, from their first time on: one of them
/// holds the lock of what they use, most of the time.
template <class Use, class F>
void expect_success_in_children_meanwhile(Use use, F f) {
  std::atomic<bool> done{false};
  std::latch begun{3};
  std::vector<std::thread> users;
  for (int i = 0; i != 3; ++i)
    users.emplace_back([&] {
      begun.count_down();
      while (!done)
        use();
    });
  begun.wait();
  for (int i = 0; i != 20 && !::testing::Test::HasFailure(); ++i)
    EXPECT_TRUE(succeeds_in_a_child(f));
  done = true;
  for (std::thread& user : users)
    user.join();
}

}  // namespace weft_test
