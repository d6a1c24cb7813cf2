// SPDX-License-Identifier: BSL-1.0
#include <weft/io/stream_descriptor.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/error.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/descriptor.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/temporary_directory.hpp"

namespace {

using weft::error_code;
using weft::posix::descriptor;
using weft::posix::stream_descriptor;

class descriptor_test : public weft_test::backend_test {
 protected:
  descriptor_test() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw std::runtime_error("pipe2");
    in.assign(ends[0]);
    out.assign(ends[1]);
  }

  stream_descriptor in{context};
  stream_descriptor out{context};
};

TEST_P(descriptor_test, what_is_written_can_be_read) {
  std::string got(5, ' ');
  std::size_t n = 0;
  in.async_read_some(weft::buffer(got), [&](error_code ec, std::size_t bytes) {
    EXPECT_FALSE(ec);
    n = bytes;
  });
  out.async_write_some(weft::buffer("hello", 5), [](error_code ec, std::size_t bytes) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(bytes, 5u);
  });
  context.run();
  EXPECT_EQ(got.substr(0, n), "hello");
}

TEST_P(descriptor_test, assigning_what_is_no_descriptor_fails) {
  descriptor d(context);
  error_code ec;
  d.assign(-1, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  EXPECT_FALSE(d.is_open());
  const int fd = ::dup(in.native_handle());
  ::close(fd);
  EXPECT_THROW(descriptor(context, fd), weft::system_error);
}

TEST_P(descriptor_test, an_open_descriptor_takes_no_other) {
  const int fd = ::dup(in.native_handle());
  error_code ec;
  in.assign(fd, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_EQ(::close(fd), 0) << "it is still the caller's";
}

TEST_P(descriptor_test, wait_tells_readable_and_writable) {
  std::vector<int> order;
  in.async_wait(descriptor::wait_read, [&](error_code ec) {
    EXPECT_FALSE(ec);
    order.push_back(2);
  });
  out.async_wait(descriptor::wait_write, [&](error_code ec) {
    EXPECT_FALSE(ec);
    order.push_back(1);
    out.write_some(weft::buffer("x", 1));
  });
  context.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  in.wait(descriptor::wait_read);
  out.wait(descriptor::wait_write);
}

TEST_P(descriptor_test, wait_for_an_error_hears_that_nobody_reads_any_more) {
  bool heard = false;
  out.async_wait(descriptor::wait_error, [&](error_code ec) { heard = !ec; });
  context.poll();
  EXPECT_FALSE(heard);
  in.close();
  context.run();
  EXPECT_TRUE(heard);
}

TEST_P(descriptor_test, a_cancelled_wait_is_aborted) {
  weft::cancellation_signal signal;
  error_code first, second;
  in.async_wait(descriptor::wait_read,
                weft_test::cancellable(signal, [&](error_code ec) { first = ec; }));
  in.async_wait(descriptor::wait_read, [&](error_code ec) { second = ec; });
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.poll();
  EXPECT_EQ(first, weft::error::operation_aborted);
  EXPECT_FALSE(second);
  in.cancel();
  context.run();
  EXPECT_EQ(second, weft::error::operation_aborted);
}

TEST_P(descriptor_test, non_blocking_calls_fail_with_would_block) {
  EXPECT_FALSE(in.non_blocking());
  EXPECT_FALSE(in.native_non_blocking());
  in.non_blocking(true);
  EXPECT_TRUE(in.non_blocking());
  EXPECT_TRUE(in.native_non_blocking());
  char c;
  error_code ec;
  in.read_some(weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::would_block);
  in.wait(descriptor::wait_read, ec);
  EXPECT_EQ(ec, weft::error::would_block);
  in.native_non_blocking(false, ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);

  bool done = false;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code e, std::size_t) { done = !e; });
  out.write_some(weft::buffer("x", 1));
  context.run();
  EXPECT_TRUE(done) << "an asynchronous read never reports would_block";

  in.non_blocking(false);
  in.native_non_blocking(false);
  EXPECT_EQ(::fcntl(in.native_handle(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_P(descriptor_test, non_blocking_ends_with_the_native_mode_that_it_brought) {
  in.non_blocking(true);
  in.non_blocking(false);
  EXPECT_FALSE(in.native_non_blocking());
  EXPECT_EQ(::fcntl(in.native_handle(), F_GETFL) & O_NONBLOCK, 0);
  in.native_non_blocking(true);
  in.non_blocking(true);
  in.non_blocking(false);
  EXPECT_TRUE(in.native_non_blocking()) << "the user's own";
}

TEST_P(descriptor_test, releasing_a_closed_one_gives_no_descriptor) {
  descriptor closed(context);
  EXPECT_EQ(closed.release(), -1);
  error_code ec;
  EXPECT_EQ(closed.release(ec), -1);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(descriptor_test, a_native_mode_of_the_user_s_leaves_synchronous_calls_blocking) {
  in.native_non_blocking(true);
  char c = 0;
  std::thread writer([&] { out.write_some(weft::buffer("x", 1)); });
  EXPECT_EQ(in.read_some(weft::buffer(&c, 1)), 1u);
  writer.join();
  EXPECT_NE(::fcntl(in.native_handle(), F_GETFL) & O_NONBLOCK, 0);
  const int fd = in.release();
  EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0) << "release leaves the user's mode alone";
  ::close(fd);
}

TEST_P(descriptor_test, a_shared_description_gets_its_blocking_mode_back) {
  const int shared = ::dup(in.native_handle());
  char c;
  in.async_read_some(weft::buffer(&c, 1), [](error_code, std::size_t) {});
  EXPECT_NE(::fcntl(shared, F_GETFL) & O_NONBLOCK, 0);
  in.close();
  EXPECT_EQ(::fcntl(shared, F_GETFL) & O_NONBLOCK, 0);
  context.run();
  ::close(shared);
}

TEST_P(descriptor_test, io_control_asks_how_much_can_be_read) {
  out.write_some(weft::buffer("abc", 3));
  descriptor::bytes_readable command;
  in.io_control(command);
  EXPECT_EQ(command.get(), 3u);
  in.close();
  error_code ec;
  in.io_control(command, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(descriptor_test, an_eventfd_a_timerfd_and_a_socket_can_be_handed_in) {
  stream_descriptor event(context, ::eventfd(0, EFD_CLOEXEC));
  std::uint64_t count = 0, add = 7;
  event.async_read_some(weft::buffer(&count, 8), [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 8u);
  });
  event.async_write_some(weft::buffer(&add, 8), [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 8u);
  });

  descriptor timer(context, ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec soon{{}, {0, 1}};
  ::timerfd_settime(timer.native_handle(), 0, &soon, nullptr);
  bool expired = false;
  timer.async_wait(descriptor::wait_read, [&](error_code ec) { expired = !ec; });

  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  stream_descriptor a(context, pair[0]), b(context, pair[1]);
  char c = 0;
  a.async_read_some(weft::buffer(&c, 1), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  b.async_write_some(weft::buffer("s", 1), [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  context.run();
  EXPECT_EQ(count, 7u);
  EXPECT_TRUE(expired);
  EXPECT_EQ(c, 's');

  a.close();
  error_code ec;
  b.write_some(weft::buffer("s", 1), ec);
  EXPECT_EQ(ec, weft::error::broken_pipe) << "and no signal";
}

TEST_P(descriptor_test, a_regular_file_is_read_in_order_to_its_end) {
  const weft_test::temporary_directory directory;
  const std::string path = directory.file("f", "abcdef");
  stream_descriptor file(context, ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  char to[3][3] = {};
  std::vector<error_code> results;
  for (auto& t : to)
    file.async_read_some(weft::buffer(t), [&](error_code ec, std::size_t n) {
      results.push_back(ec);
      EXPECT_EQ(n, ec ? 0u : 3u);
    });
  bool ready = false;
  file.async_wait(descriptor::wait_read, [&](error_code ec) { ready = !ec; });
  context.run();
  EXPECT_TRUE(ready);
  EXPECT_EQ(std::string(to[0], 3), "abc");
  EXPECT_EQ(std::string(to[1], 3), "def");
  EXPECT_EQ(results, (std::vector<error_code>{{}, {}, weft::error::eof}));
  EXPECT_EQ(file.write_some(weft::buffer("gh", 2)), 2u);
  EXPECT_EQ(directory.content("f"), "abcdefgh");
  file.wait(descriptor::wait_write);
}

TEST_P(descriptor_test, a_directory_can_be_held_but_not_read) {
  stream_descriptor directory(context, ::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  char c;
  error_code result;
  directory.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.run();
  EXPECT_EQ(result, error_code(EISDIR, weft::system_category()));
}

TEST_P(descriptor_test, devices_that_are_always_ready_work) {
  stream_descriptor zero(context, ::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  stream_descriptor null(context, ::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::string bytes(10, 'x');
  std::size_t read = 0, written = 0;
  error_code end;
  zero.async_read_some(weft::buffer(bytes), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    read = n;
  });
  null.async_write_some(weft::buffer("abc", 3), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    written = n;
  });
  char c;
  null.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { end = ec; });
  context.run();
  EXPECT_EQ(read, 10u);
  EXPECT_EQ(bytes, std::string(10, '\0'));
  EXPECT_EQ(written, 3u);
  EXPECT_EQ(end, weft::error::eof);
}

TEST_P(descriptor_test, reading_what_is_open_for_writing_only_fails) {
  char c;
  error_code result;
  out.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.run();
  EXPECT_EQ(result, weft::error::bad_descriptor);
}

TEST_P(descriptor_test, closed_when_close_returns_also_with_a_read_in_the_kernel) {
  char c;
  error_code result;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  std::thread runner([&] { context.run(); });
  const int fd = in.native_handle();
  in.close();
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  error_code ec;
  out.write_some(weft::buffer("x", 1), ec);
  EXPECT_EQ(ec, weft::error::broken_pipe);
  runner.join();
  EXPECT_EQ(result, weft::error::operation_aborted);
}

TEST_P(descriptor_test, double_close_is_harmless) {
  in.close();
  in.close();
  error_code ec = weft::error::fault;
  in.close(ec);
  EXPECT_FALSE(ec);
}

WEFT_INSTANTIATE_BACKENDS(descriptor_test);

}  // namespace
