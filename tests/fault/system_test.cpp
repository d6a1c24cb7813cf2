// SPDX-License-Identifier: BSL-1.0
// What the system does to a program: system calls denied, interrupted, and descriptors by the
// thousand.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/error.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/config.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local.hpp>

#include "support/backend.hpp"

namespace {

using weft::buffer;
using weft::error_code;
using socket_type = weft::local::stream_protocol::socket;

/// Denies a system call to this process, for good.
bool deny(unsigned call, unsigned error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// 0, or the number of the step that went wrong.
int use_without_io_uring() {
  ::unsetenv("WEFT_BACKEND");
  weft::io_context context;
  if (context.backend() != weft::backend_kind::epoll)
    return 2;
  socket_type a(context), b(context);
  weft::local::connect_pair(a, b);
  char byte = 0;
  a.async_read_some(buffer(&byte, 1), [](error_code, std::size_t) {});
  b.async_write_some(buffer("x", 1), [](error_code, std::size_t) {});
  context.run();
  if (byte != 'x')
    return 3;
  if (weft::backend_available(weft::backend_kind::uring))
    return 4;
  try {
    weft::io_context forced(weft_test::make_context_options(weft::backend_kind::uring));
    return 5;
  } catch (const weft::system_error& e) {
    if (e.code() != weft::error::operation_not_supported)
      return 6;
  }
  ::setenv("WEFT_BACKEND", "uring", 1);
  try {
    weft::io_context forced;
    return 7;
  } catch (const weft::system_error& e) {
    return e.code() == weft::error::operation_not_supported ? 0 : 8;
  }
}

// What the kernel offers is asked once in a process: the check runs in one that starts denied.
constexpr const char* denied_process = "WEFT_TEST_DENIED_IO_URING";
[[maybe_unused]] const bool checked_here = [] {
  if (std::getenv(denied_process))
    ::_exit(use_without_io_uring());
  return true;
}();

class denied_io_uring : public ::testing::TestWithParam<unsigned> {};

TEST_P(denied_io_uring, means_epoll_unless_it_is_forced_which_is_an_error) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!deny(__NR_io_uring_setup, GetParam()))
      ::_exit(100);
    ::setenv(denied_process, "1", 1);
    ::execl("/proc/self/exe", "fault", static_cast<char*>(nullptr));
    ::_exit(101);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the number of the step in use_without_io_uring";
}

INSTANTIATE_TEST_SUITE_P(errors, denied_io_uring, ::testing::Values(EPERM, ENOSYS, ENOMEM));

// Two threads, one of which takes what waits behind a handler of the other's.
int run_without_membarrier() {
  weft::io_context context(weft::config_from_string("scheduler.membarrier=0"));
  if (!deny(__NR_membarrier, EPERM))
    return 100;
  std::promise<void> done;
  weft::post(context, [&] {
    weft::post(context, [&] { done.set_value(); });
    done.get_future().wait();
  });
  std::thread other([&] { context.run(); });
  context.run();
  other.join();
  return 0;
}

TEST(denied_membarrier, is_not_missed_by_a_context_that_was_told) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(run_without_membarrier()), ::testing::ExitedWithCode(0), "");
}

class system_fault : public weft_test::backend_test {};

/// Signals a thread again and again, with a handler that does not ask for restarts.
class interruptions {
 public:
  interruptions() : target_(::pthread_self()) {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &previous_);
    thread_ = std::thread([this] {
      while (!ended_) {
        ::pthread_kill(target_, SIGUSR1);
        ++sent_;
        std::this_thread::yield();
      }
    });
    while (sent_ == 0)
      std::this_thread::yield();
  }
  ~interruptions() {
    ended_ = true;
    thread_.join();
    ::sigaction(SIGUSR1, &previous_, nullptr);
  }

 private:
  pthread_t target_;
  struct sigaction previous_{};
  std::atomic<bool> ended_{false};
  std::atomic<int> sent_{0};
  std::thread thread_;
};

TEST_P(system_fault, signals_interrupt_neither_synchronous_nor_asynchronous_operations) {
  socket_type a(context), b(context);
  weft::local::connect_pair(a, b);
  std::string text(1 << 20, 'x'), got(text.size(), '\0');
  for (std::size_t i = 0; i != text.size(); ++i)
    text[i] = static_cast<char>('a' + i % 26);
  const interruptions interrupted;
  {
    weft::io_context other;
    std::thread peer([&] { weft::write(b, buffer(text)); });
    EXPECT_EQ(weft::read(a, buffer(got)), text.size());
    peer.join();
  }
  EXPECT_EQ(got, text);
  got.assign(text.size(), '\0');
  int done = 0;
  weft::async_write(a, buffer(text), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec) << ec.message();
    done += n == text.size();
  });
  weft::async_read(b, buffer(got), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec) << ec.message();
    done += n == text.size();
  });
  context.run();
  EXPECT_EQ(done, 2);
  EXPECT_EQ(got, text);
}

/// Raises the limit of descriptors to `wanted`, as far as the process may; tells what it is.
std::size_t raise_descriptor_limit(std::size_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(wanted, limit.rlim_cur);
  limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

TEST_P(system_fault, twenty_thousand_descriptors_each_hear_their_byte) {
  constexpr std::size_t all = 20000, others = 200;
  const std::size_t limit = raise_descriptor_limit(all + others);
  // Where everything is to be tested, as in CI, a lower limit is a failure.
  if (limit < all && !std::getenv("WEFT_REQUIRE_URING"))
    GTEST_SKIP() << "the limit of descriptors is " << limit << " and cannot be raised";
  ASSERT_GE(limit, all);
  // Where the limit is just that, what the process has open already counts among them.
  std::vector<socket_type> sockets;
  error_code full;
  while (sockets.size() != all && !full) {
    sockets.emplace_back(context);
    sockets.emplace_back(context);
    weft::local::connect_pair(sockets[sockets.size() - 2], sockets.back(), full);
  }
  if (full) {
    EXPECT_EQ(full, weft::error::no_descriptors);
    sockets.pop_back();
    sockets.pop_back();
    EXPECT_GE(sockets.back().native_handle(), static_cast<int>(all) - 3);
  }
  const std::size_t pairs = sockets.size() / 2;
  std::vector<char> bytes(pairs);
  std::size_t done = 0;
  for (std::size_t i = 0; i != pairs; ++i) {
    sockets[2 * i].async_read_some(buffer(&bytes[i], 1), [&, i](error_code ec, std::size_t) {
      done += !ec && bytes[i] == 'x';
    });
  }
  context.poll();
  EXPECT_EQ(done, 0u);
  for (std::size_t i = 0; i != pairs; ++i)
    sockets[2 * i + 1].write_some(buffer("x", 1));
  context.restart();
  context.run();
  EXPECT_EQ(done, pairs);
}

WEFT_INSTANTIATE_BACKENDS(system_fault);

}  // namespace
