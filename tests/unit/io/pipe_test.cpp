// SPDX-License-Identifier: BSL-1.0
#include <weft/io/connect_pipe.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/child.hpp"

namespace {

using weft::error_code;
using weft_test::cancellable;

class pipe_test : public weft_test::backend_test {
 public:
  void connect() { weft::connect_pipe(in, out); }

  /// Sends bytes through the pipe, all by this thread. Returns whether they arrived.
  bool send_to_itself(std::size_t size) {
    const std::string sent(size, 'x');
    std::string got(size, ' ');
    weft::async_write(out, weft::buffer(sent), [](error_code, std::size_t) {});
    weft::async_read(in, weft::buffer(got), [](error_code, std::size_t) {});
    context.restart();
    context.run();
    return got == sent;
  }

  weft::readable_pipe in{context};
  weft::writable_pipe out{context};
};

TEST_P(pipe_test, bytes_come_out_as_they_went_in) {
  connect();
  std::string data(1 << 20, ' ');
  for (std::size_t i = 0; i != data.size(); ++i)
    data[i] = static_cast<char>(i * 7 + i / 4099);
  std::string got(data.size(), ' ');
  std::size_t sent = 0, received = 0;
  struct writer {
    pipe_test& t;
    std::string& data;
    std::size_t& sent;
    void operator()(error_code ec, std::size_t n) {
      ASSERT_FALSE(ec) << ec.message();
      sent += n;
      if (sent != data.size())
        t.out.async_write_some(weft::buffer(&data[sent], data.size() - sent), *this);
    }
  };
  struct reader {
    pipe_test& t;
    std::string& got;
    std::size_t& received;
    void operator()(error_code ec, std::size_t n) {
      ASSERT_FALSE(ec) << ec.message();
      received += n;
      if (received != got.size())
        t.in.async_read_some(weft::buffer(&got[received], got.size() - received), *this);
    }
  };
  writer{*this, data, sent}({}, 0);
  reader{*this, got, received}({}, 0);
  context.run();
  EXPECT_EQ(got, data);
}

TEST_P(pipe_test, reads_are_performed_in_the_order_they_were_started) {
  connect();
  std::array<char, 3> to{};
  std::vector<int> order;
  for (int i = 0; i != 3; ++i)
    in.async_read_some(weft::buffer(&to[static_cast<std::size_t>(i)], 1),
                       [&order, i](error_code ec, std::size_t n) {
                         EXPECT_FALSE(ec);
                         EXPECT_EQ(n, 1u);
                         order.push_back(i);
                       });
  out.write_some(weft::buffer("abc", 3));
  context.run();
  EXPECT_EQ(std::string(to.data(), 3), "abc");
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_P(pipe_test, several_buffers_are_filled_one_after_the_other) {
  connect();
  const std::array<weft::const_buffer, 3> from{weft::buffer("ab", 2), weft::const_buffer(),
                                               weft::buffer("cde", 3)};
  EXPECT_EQ(out.write_some(from), 5u);
  char a[3], b[4];
  const std::vector<weft::mutable_buffer> to{weft::buffer(a), weft::buffer(b)};
  std::size_t got = 0;
  in.async_read_some(to, [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    got = n;
  });
  context.run();
  EXPECT_EQ(got, 5u);
  EXPECT_EQ(std::string(a, 3) + std::string(b, 2), "abcde");
}

TEST_P(pipe_test, no_handler_runs_inside_its_initiating_function) {
  connect();
  out.write_some(weft::buffer("x", 1));
  char c;
  bool called = false;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code, std::size_t) { called = true; });
  out.async_write_some(weft::buffer("x", 1), [&](error_code, std::size_t) { called = true; });
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

TEST_P(pipe_test, reading_ends_with_eof_when_the_last_writer_has_gone) {
  connect();
  out.write_some(weft::buffer("x", 1));
  char c[2];
  std::vector<error_code> results;
  for (int i = 0; i != 2; ++i)
    in.async_read_some(weft::buffer(c), [&](error_code ec, std::size_t) { results.push_back(ec); });
  out.close();
  context.run();
  EXPECT_EQ(results, (std::vector<error_code>{{}, weft::error::eof}));
  error_code ec;
  EXPECT_EQ(in.read_some(weft::buffer(c), ec), 0u);
  EXPECT_EQ(ec, weft::error::eof);
  EXPECT_THROW(in.read_some(weft::buffer(c)), weft::system_error);
}

TEST_P(pipe_test, a_pending_read_hears_of_the_last_writer_s_going) {
  connect();
  char c;
  error_code result;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.poll();
  out.close();
  context.run();
  EXPECT_EQ(result, weft::error::eof);
}

TEST_P(pipe_test, transfers_of_nothing_succeed_at_once_and_wait_for_nobody) {
  connect();
  char c;
  bool read_done = false;
  in.async_read_some(weft::buffer(&c, 1), [](error_code ec, std::size_t) {
    EXPECT_EQ(ec, weft::error::operation_aborted);
  });
  in.async_read_some(weft::mutable_buffer(), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 0u);
    read_done = true;
    in.cancel();
  });
  out.async_write_some(std::vector<weft::const_buffer>(), [](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, 0u);
  });
  EXPECT_EQ(in.read_some(weft::mutable_buffer()), 0u);
  EXPECT_EQ(out.write_some(weft::const_buffer()), 0u);
  EXPECT_EQ(context.run(), 3u);
  EXPECT_TRUE(read_done);
}

TEST_P(pipe_test, a_write_is_partial_when_the_pipe_is_nearly_full) {
  connect();
  const int capacity = ::fcntl(out.native_handle(), F_GETPIPE_SZ);
  ASSERT_GT(capacity, 0);
  const std::string data(static_cast<std::size_t>(capacity) * 2, 'x');
  std::size_t first = 0, second = 0;
  out.async_write_some(weft::buffer(data), [&](error_code ec, std::size_t n) {
    EXPECT_FALSE(ec);
    first = n;
    out.async_write_some(weft::buffer(data), [&](error_code e, std::size_t m) {
      EXPECT_FALSE(e);
      second = m;
    });
  });
  context.poll();
  EXPECT_EQ(first, static_cast<std::size_t>(capacity));
  EXPECT_EQ(second, 0u);
  std::string got(data.size(), ' ');
  EXPECT_EQ(in.read_some(weft::buffer(got)), first);
  context.run();
  EXPECT_GT(second, 0u);
}

TEST_P(pipe_test, writing_to_a_pipe_nobody_reads_is_an_error_and_no_signal) {
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &before), 0);
  ASSERT_EQ(before.sa_handler, SIG_DFL) << "another test has touched the disposition";
  connect();
  in.close();
  error_code sync, async;
  out.write_some(weft::buffer("x", 1), sync);
  out.async_write_some(weft::buffer("x", 1), [&](error_code ec, std::size_t) { async = ec; });
  context.run();
  EXPECT_EQ(sync, weft::error::broken_pipe);
  EXPECT_EQ(async, weft::error::broken_pipe);
  struct sigaction after{};
  ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_P(pipe_test, a_pending_write_hears_of_the_last_reader_s_going) {
  connect();
  const std::string data(1 << 21, 'x');
  error_code result;
  out.async_write_some(weft::buffer(data), [&](error_code ec, std::size_t) {
    EXPECT_FALSE(ec);
    out.async_write_some(weft::buffer(data), [&](error_code e, std::size_t) { result = e; });
  });
  context.poll();
  in.close();
  context.run();
  EXPECT_EQ(result, weft::error::broken_pipe);
}

TEST_P(pipe_test, closed_objects_answer_bad_descriptor) {
  char c;
  error_code ec;
  in.read_some(weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  out.write_some(weft::buffer(&c, 1), ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  in.cancel(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  EXPECT_EQ(in.release(ec), -1);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  in.close(ec);
  EXPECT_FALSE(ec);
  EXPECT_FALSE(in.is_open());
  EXPECT_EQ(in.native_handle(), -1);
  int calls = 0;
  const auto expect_bad = [&](error_code e, std::size_t n) {
    EXPECT_EQ(e, weft::error::bad_descriptor);
    EXPECT_EQ(n, 0u);
    ++calls;
  };
  in.async_read_some(weft::buffer(&c, 1), expect_bad);
  in.async_read_some(weft::mutable_buffer(), expect_bad);
  out.async_write_some(weft::buffer(&c, 1), expect_bad);
  context.run();
  EXPECT_EQ(calls, 3);
}

TEST_P(pipe_test, cancel_ends_what_is_pending_and_the_pipe_goes_on) {
  connect();
  char c;
  int aborted = 0;
  for (int i = 0; i != 3; ++i)
    in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t n) {
      EXPECT_EQ(ec, weft::error::operation_aborted);
      EXPECT_EQ(n, 0u);
      ++aborted;
    });
  in.cancel();
  context.run();
  EXPECT_EQ(aborted, 3);
  out.write_some(weft::buffer("x", 1));
  bool done = false;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { done = !ec; });
  context.restart();
  context.run();
  EXPECT_TRUE(done);
}

TEST_P(pipe_test, a_signal_cancels_one_read_and_leaves_the_next) {
  connect();
  weft::cancellation_signal signal;
  char a = 0, b = 0;
  error_code first, second;
  in.async_read_some(weft::buffer(&a, 1),
                     cancellable(signal, [&](error_code ec, std::size_t) { first = ec; }));
  in.async_read_some(weft::buffer(&b, 1), [&](error_code ec, std::size_t) { second = ec; });
  context.poll();
  signal.emit(weft::cancellation_type::total);
  out.write_some(weft::buffer("x", 1));
  context.run();
  EXPECT_EQ(first, weft::error::operation_aborted);
  EXPECT_FALSE(second);
  EXPECT_EQ(b, 'x');
  signal.emit(weft::cancellation_type::total);  // it has ended: nothing happens
}

TEST_P(pipe_test, close_ends_what_is_pending) {
  connect();
  char c;
  error_code result;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.poll();
  in.close();
  context.run();
  EXPECT_EQ(result, weft::error::operation_aborted);
  error_code ec;
  out.write_some(weft::buffer("x", 1), ec);
  EXPECT_EQ(ec, weft::error::broken_pipe);
}

TEST_P(pipe_test, release_hands_over_the_descriptor_in_the_mode_it_had) {
  connect();
  char c;
  error_code result;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  context.poll();
  const int fd = in.release();
  EXPECT_FALSE(in.is_open());
  context.run();
  EXPECT_EQ(result, weft::error::operation_aborted);
  EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  out.write_some(weft::buffer("x", 1));
  EXPECT_EQ(::read(fd, &c, 1), 1);
  ::close(fd);
}

// In blocking mode the writer would wait for a reader on its own thread.
TEST_P(pipe_test, closed_by_the_parent_of_a_fork_it_goes_on_in_the_child) {
  connect();
  send_to_itself(1);
  int closed[2];
  ASSERT_EQ(::pipe2(closed, O_CLOEXEC), 0);
  const pid_t child = weft_test::start_told_child(
      [&] {
        char byte;
        return ::read(closed[0], &byte, 1) == 1 && send_to_itself(1 << 20);
      },
      context);
  in.close();
  out.close();
  EXPECT_EQ(::write(closed[1], "", 1), 1);
  EXPECT_TRUE(weft_test::has_succeeded(child));
  ::close(closed[0]);
  ::close(closed[1]);
}

TEST_P(pipe_test, closed_or_released_by_the_child_of_a_fork_it_goes_on_in_the_parent) {
  connect();
  send_to_itself(1);
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        in.close();
        return out.release() >= 0;
      },
      context));
  ASSERT_NE(::fcntl(in.native_handle(), F_GETFL) & O_NONBLOCK, 0);
  ASSERT_NE(::fcntl(out.native_handle(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_TRUE(send_to_itself(1 << 20));
}

TEST_P(pipe_test, opened_anew_after_a_fork_it_gets_its_blocking_mode_back) {
  connect();
  context.notify_fork(weft::io_context::fork_prepare);
  context.notify_fork(weft::io_context::fork_parent);
  in.close();
  out.close();
  connect();
  EXPECT_TRUE(send_to_itself(1));
  const int fd = in.release();
  EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  ::close(fd);
}

TEST_P(pipe_test, synchronous_calls_block_also_after_asynchronous_ones) {
  connect();
  char c = 0;
  in.async_read_some(weft::buffer(&c, 1), [](error_code, std::size_t) {});
  in.cancel();
  context.run();
  std::thread writer([&] { out.write_some(weft::buffer("x", 1)); });
  EXPECT_EQ(in.read_some(weft::buffer(&c, 1)), 1u);
  EXPECT_EQ(c, 'x');
  writer.join();
}

TEST_P(pipe_test, both_ends_are_closed_on_exec) {
  connect();
  EXPECT_NE(::fcntl(in.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(out.native_handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_P(pipe_test, an_open_object_is_not_connected_again) {
  connect();
  weft::writable_pipe other(context);
  error_code ec;
  weft::connect_pipe(in, other, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_FALSE(other.is_open());
  weft::readable_pipe another(context);
  weft::connect_pipe(another, out, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_FALSE(another.is_open());
}

TEST_P(pipe_test, the_descriptor_limit_is_reported) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  weft::readable_pipe warm_in(context);
  weft::writable_pipe warm_out(context);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  error_code ec;
  weft::connect_pipe(in, out, ec);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(ec, weft::error::no_descriptors);
  EXPECT_FALSE(in.is_open());
  EXPECT_FALSE(out.is_open());
}

TEST_P(pipe_test, a_moved_pipe_keeps_what_is_pending) {
  connect();
  char c = 0;
  error_code result = weft::error::fault;
  in.async_read_some(weft::buffer(&c, 1), [&](error_code ec, std::size_t) { result = ec; });
  weft::readable_pipe moved(std::move(in));
  EXPECT_FALSE(in.is_open());
  EXPECT_TRUE(moved.is_open());
  in = std::move(moved);
  out.write_some(weft::buffer("x", 1));
  context.run();
  EXPECT_FALSE(result);
  EXPECT_EQ(c, 'x');
}

TEST_P(pipe_test, a_pipe_converts_to_one_of_a_wider_executor) {
  weft::basic_readable_pipe<weft::io_context::executor_type> narrow(context);
  weft::basic_writable_pipe<weft::io_context::executor_type> end(context);
  weft::connect_pipe(narrow, end);
  weft::readable_pipe wide(std::move(narrow));
  EXPECT_TRUE(wide.is_open());
  EXPECT_TRUE(wide.get_executor() == weft::any_io_executor(context.get_executor()));
  out = std::move(end);
  EXPECT_TRUE(out.is_open());
}

TEST_P(pipe_test, a_context_may_go_with_reads_and_writes_pending_that_own_their_pipes) {
  auto token = std::make_shared<int>(0);
  {
    weft::io_context doomed(weft_test::make_context_options(GetParam()));
    auto r = std::make_shared<weft::readable_pipe>(doomed);
    auto w = std::make_shared<weft::writable_pipe>(doomed);
    weft::connect_pipe(*r, *w);
    auto data = std::make_shared<std::string>(1 << 20, 'x');
    auto& pipe = *r;
    auto& full = *w;
    pipe.async_read_some(weft::buffer(data->data(), 1),
                         [r, data, token](error_code, std::size_t) { FAIL(); });
    pipe.cancel();  // completed, but never delivered
    pipe.async_read_some(weft::buffer(data->data(), 1),
                         [r, data, token](error_code, std::size_t) { FAIL(); });
    full.async_write_some(weft::buffer(*data),
                          [w, data, token](error_code, std::size_t) { FAIL(); });
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(pipe_test, reads_race_with_cancel_and_lose_no_byte) {
  connect();
  std::size_t received = 0;
  char c;
  struct reader {
    pipe_test& t;
    std::size_t& received;
    char& c;
    void operator()(error_code ec, std::size_t n) {
      received += n;
      if (ec && ec != weft::error::operation_aborted)
        return;
      t.in.async_read_some(weft::buffer(&c, 1), *this);
    }
  };
  reader{*this, received, c}({}, 0);
  std::thread canceller([&] {
    for (int i = 0; i != 2000; ++i) {
      error_code ec;
      out.write_some(weft::buffer("x", 1), ec);
      in.cancel(ec);
    }
    out.close();
  });
  context.run();
  canceller.join();
  EXPECT_EQ(received, 2000u);
}

WEFT_INSTANTIATE_BACKENDS(pipe_test);

}  // namespace
