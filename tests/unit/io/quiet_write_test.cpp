// SPDX-License-Identifier: BSL-1.0
#include "io/op/quiet_write.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace {

using weft::detail::io_vector;
using writer = ssize_t (*)(int, const io_vector*, std::size_t) noexcept;

class quiet_write_test : public ::testing::TestWithParam<writer> {
 protected:
  quiet_write_test() {
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::system_error(errno, std::system_category());
  }
  ~quiet_write_test() override {
    ::close(ends[0]);
    ::close(ends[1]);
  }

  ssize_t write(int fd) {
    char bytes[] = "abc";
    const io_vector vectors[] = {{bytes, 2}, {bytes + 2, 1}};
    return GetParam()(fd, vectors, 2);
  }
  void break_pipe() {
    ::close(ends[0]);
    ends[0] = ::dup(ends[1]);
  }
  static bool pending() {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGPIPE) == 1;
  }
  static bool blocked() {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    return sigismember(&set, SIGPIPE) == 1;
  }

  int ends[2];
};

TEST_P(quiet_write_test, writes_what_is_there_to_be_written) {
  EXPECT_EQ(write(ends[1]), 3);
  char got[4] = {};
  EXPECT_EQ(::read(ends[0], got, 3), 3);
  EXPECT_STREQ(got, "abc");
}

TEST_P(quiet_write_test, a_broken_pipe_is_an_error_and_no_signal) {
  break_pipe();
  errno = 0;
  EXPECT_EQ(write(ends[1]), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(pending());
  EXPECT_FALSE(blocked());
}

TEST_P(quiet_write_test, a_broken_socket_is_an_error_and_no_signal) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  ::close(pair[0]);
  EXPECT_EQ(write(pair[1]), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(pending());
  ::close(pair[1]);
}

// In a thread of its own, which takes the signal with it.
TEST_P(quiet_write_test, a_signal_that_was_pending_before_stays) {
  break_pipe();
  std::thread([this] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    pthread_kill(pthread_self(), SIGPIPE);
    EXPECT_TRUE(pending());
    EXPECT_EQ(write(ends[1]), -1);
    EXPECT_TRUE(pending());
    EXPECT_TRUE(blocked());
  }).join();
}

INSTANTIATE_TEST_SUITE_P(ways, quiet_write_test,
                         ::testing::Values(&weft::detail::quiet_write,
                                           &weft::detail::masked_write));

}  // namespace
