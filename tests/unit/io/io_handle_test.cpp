// SPDX-License-Identifier: BSL-1.0
#include <weft/io/io_handle.hpp>

#include <gtest/gtest.h>
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <latch>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/op/send.hpp>

#include "support/backend.hpp"
#include "support/child.hpp"

namespace {

namespace detail = weft::detail;
using weft::error_code;

// An operation that reads, as small as can be: both ways of a backend to carry it, and one that
// leaves io_uring only the readiness poll.
class read_operation : public detail::transfer_operation {
 public:
  template <class F>
  read_operation(F f, detail::scheduler& owner, const detail::io_kind& kind, void* data,
                 std::size_t size)
      : transfer_operation(f, owner, kind, detail::io_queue::read), data_(data), size_(size) {}

  static detail::io_status perform(detail::io_operation& base) noexcept {
    auto& op = static_cast<read_operation&>(base);
    ++attempts;
    const ssize_t n = ::recv(op.fd, op.data_, op.size_, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
      return detail::io_status::again;
    return op.take(n < 0 ? -errno : static_cast<int>(n));
  }
  static void prepare(detail::io_operation& base, io_uring_sqe& sqe) noexcept {
    auto& op = static_cast<read_operation&>(base);
    io_uring_prep_recv(&sqe, op.fd, op.data_, op.size_, 0);
  }
  static detail::io_status finish(detail::io_operation& base, detail::io_answer answer) noexcept {
    return static_cast<read_operation&>(base).take(answer.result);
  }

  static inline std::atomic<int> attempts{0};

 private:
  detail::io_status take(int result) noexcept {
    if (result < 0)
      fail(-result);
    else if ((bytes = static_cast<std::size_t>(result)) == 0)
      ec = weft::error::make_error_code(weft::error::eof);
    return bytes == size_ || result <= 0 ? detail::io_status::done : detail::io_status::drained;
  }

  void* data_;
  std::size_t size_;
};

constexpr detail::io_kind whole{&read_operation::perform, &read_operation::prepare,
                                &read_operation::finish};
constexpr detail::io_kind by_readiness{&read_operation::perform, nullptr, nullptr};

class io_handle_on
    : public ::testing::TestWithParam<std::tuple<weft::backend_kind, const detail::io_kind*>> {
 protected:
  io_handle_on() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    EXPECT_FALSE(io->assign(pair[0]));
  }
  ~io_handle_on() override { ::close(pair[1]); }

  template <class Handler>
  void read(void* into, std::size_t size, Handler handler) {
    detail::start_io<read_operation>(*io, handler, context->get_executor(),
                                     *std::get<1>(GetParam()), into, size);
  }
  void write(std::string_view text) {
    EXPECT_EQ(::write(pair[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  int pair[2];
  std::optional<weft::io_context> context{std::in_place,
                                          weft_test::make_context_options(std::get<0>(GetParam()))};
  std::optional<detail::io_handle> io{std::in_place, *context};
  char data[64];
};

INSTANTIATE_TEST_SUITE_P(backend, io_handle_on,
                         ::testing::Combine(::testing::ValuesIn(weft_test::backends()),
                                            ::testing::Values(&whole, &by_readiness)),
                         [](const auto& instance) {
                           return std::string(weft::to_string(std::get<0>(instance.param))) +
                                  (std::get<1>(instance.param) == &whole ? "_whole"
                                                                         : "_by_readiness");
                         });

struct outcome {
  error_code ec;
  std::size_t bytes = 0;
  int calls = 0;
  auto handler() {
    return [this](error_code e, std::size_t n) {
      ec = e;
      bytes = n;
      ++calls;
    };
  }
};

template <class Handler>
struct cancellable {
  using cancellation_slot_type = weft::cancellation_slot;

  cancellable(weft::cancellation_slot s, Handler h) : slot(s), handler(std::move(h)) {}
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
  void operator()(error_code ec, std::size_t n) { handler(ec, n); }

  weft::cancellation_slot slot;
  Handler handler;
};

TEST_P(io_handle_on, a_read_takes_what_is_there) {
  write("hello");
  outcome result;
  read(data, sizeof data, result.handler());
  EXPECT_EQ(result.calls, 0);
  context->run();
  EXPECT_EQ(result.calls, 1);
  EXPECT_EQ(std::string(data, result.bytes), "hello");
}

TEST_P(io_handle_on, a_read_waits_for_what_comes) {
  outcome result;
  read(data, sizeof data, result.handler());
  EXPECT_EQ(context->poll(), 0u);
  write("later");
  context->run();
  EXPECT_EQ(std::string(data, result.bytes), "later");
}

TEST_P(io_handle_on, bytes_left_behind_by_a_full_read_are_found_by_the_next) {
  for (int round = 0; round < 50; ++round) {
    write("abcdef");
    for (const char* expected : {"ab", "cd", "ef"}) {
      outcome result;
      read(data, 2, result.handler());
      context->run();
      context->restart();
      ASSERT_EQ(std::string(data, result.bytes), expected);
    }
  }
}

TEST_P(io_handle_on, full_reads_each_waited_for_lose_nothing) {
  for (int round = 0; round < 50; ++round) {
    outcome result;
    read(data, 2, result.handler());
    context->poll();
    write("xy");
    context->restart();
    context->run();
    context->restart();
    ASSERT_EQ(result.bytes, 2u);
    if (round % 7 == 6) {  // and now and then more comes than is read for
      write("1234");
      context->poll();
      outcome first, second;
      read(data, 2, first.handler());
      read(data + 2, 2, second.handler());
      context->restart();
      context->run();
      context->restart();
      ASSERT_EQ(std::string(data, 4), "1234");
    }
  }
}

TEST_P(io_handle_on, reads_that_wait_are_soon_tried_once_each_though_writes_succeed_between) {
  constexpr int rounds = 32;
  for (int i = 0; i != rounds; ++i) {
    if (i == rounds / 2)
      read_operation::attempts = 0;
    outcome result, sent;
    read(data, 5, result.handler());
    write("hello");
    while (result.calls == 0)
      context->run_one();
    EXPECT_EQ(result.bytes, 5u);
    auto handler = sent.handler();
    detail::start_io<detail::send_operation>(*io, handler, context->get_executor(),
                                             weft::buffer(data, 5), 0);
    context->restart();
    context->run();
    EXPECT_EQ(sent.bytes, 5u);
    context->restart();
  }
  EXPECT_LE(read_operation::attempts, rounds / 2);
}

TEST_P(io_handle_on, the_end_of_the_stream_is_seen_after_a_short_read) {
  outcome first, second;
  write("bye");
  ::shutdown(pair[1], SHUT_WR);
  read(data, sizeof data, first.handler());
  context->run();
  EXPECT_EQ(first.bytes, 3u);
  read(data, sizeof data, second.handler());
  context->restart();
  context->run();
  EXPECT_EQ(second.ec, weft::error::eof);
}

TEST_P(io_handle_on, reads_are_performed_in_the_order_they_were_started) {
  std::vector<int> order;
  char bytes[8];
  for (int i = 0; i < 8; ++i)
    read(bytes + i, 1, [&order, i](error_code, std::size_t) { order.push_back(i); });
  context->poll();
  write("01234567");
  context->run();
  EXPECT_EQ(std::string(bytes, 8), "01234567");
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_P(io_handle_on, cancel_ends_all_and_takes_no_byte) {
  outcome first, second, after;
  read(data, 1, first.handler());
  read(data, 1, second.handler());
  context->poll();
  EXPECT_TRUE(io->cancel());
  context->restart();
  context->run();
  EXPECT_EQ(first.ec, weft::error::operation_aborted);
  EXPECT_EQ(second.ec, weft::error::operation_aborted);
  write("z");
  read(data, 1, after.handler());
  context->restart();
  context->run();
  EXPECT_EQ(after.bytes, 1u);
}

TEST_P(io_handle_on, a_signal_cancels_its_operation_alone) {
  weft::cancellation_signal signal;
  outcome first, second;
  char a, b;
  read(&a, 1, cancellable(signal.slot(), first.handler()));
  read(&b, 1, second.handler());
  context->poll();
  signal.emit(weft::cancellation_type::terminal);
  context->restart();
  context->poll();
  write("q");
  context->restart();
  context->run();
  EXPECT_EQ(first.ec, weft::error::operation_aborted);
  EXPECT_EQ(second.bytes, 1u);
  EXPECT_EQ(b, 'q');
  signal.emit(weft::cancellation_type::terminal);  // after completion: nothing there
}

TEST_P(io_handle_on, a_signal_emitted_elsewhere_completes_exactly_once) {
  for (int round = 0; round < 300; ++round) {
    weft::cancellation_signal signal;
    outcome result;
    read(data, 1, cancellable(signal.slot(), result.handler()));
    std::thread other([&] { signal.emit(weft::cancellation_type::terminal); });
    if (round % 2)
      write("w");
    context->run();
    context->restart();
    other.join();
    ASSERT_EQ(result.calls, 1);
    if (round % 2 && result.ec) {  // the byte is still there then
      outcome rest;
      read(data, 1, rest.handler());
      context->run();
      context->restart();
      ASSERT_EQ(rest.bytes, 1u);
    }
  }
}

TEST_P(io_handle_on, close_aborts_and_the_peer_sees_the_end_at_once) {
  outcome result;
  read(data, 1, result.handler());
  context->poll();
  EXPECT_FALSE(io->close());
  char c;
  EXPECT_EQ(::recv(pair[1], &c, 1, MSG_DONTWAIT), 0);
  EXPECT_FALSE(io->close());
  context->restart();
  context->run();
  EXPECT_EQ(result.ec, weft::error::operation_aborted);
  outcome after;
  read(data, 1, after.handler());
  context->restart();
  context->run();
  EXPECT_EQ(after.ec, weft::error::bad_descriptor);
}

// P13, from a thread that is not in run(), while the poller sleeps in the kernel.
TEST_P(io_handle_on, close_elsewhere_lets_the_kernel_take_no_later_byte) {
  outcome result;
  read(data, 1, result.handler());
  std::thread runner([&] { context->run(); });
  error_code ec;
  std::latch running(1);
  context->get_executor().post([&] { running.count_down(); }, std::allocator<void>());
  running.wait();
  const int fd = io->release(ec);
  ASSERT_FALSE(ec);
  EXPECT_EQ(fd, pair[0]);
  write("n");
  char c = 0;
  EXPECT_EQ(::recv(fd, &c, 1, MSG_DONTWAIT), 1);
  EXPECT_EQ(c, 'n');
  ::close(fd);
  runner.join();
  EXPECT_EQ(result.ec, weft::error::operation_aborted);
}

TEST_P(io_handle_on, a_context_destroyed_with_a_read_pending_destroys_its_handler) {
  auto token = std::make_shared<int>();
  auto owner = std::make_shared<detail::io_handle>(std::move(*io));
  io.reset();
  auto handler = [token, owner](error_code, std::size_t) { FAIL(); };
  detail::start_io<read_operation>(*owner, handler, context->get_executor(),
                                   *std::get<1>(GetParam()), data, sizeof data);
  { auto gone = std::move(handler); }
  owner.reset();
  context->poll();
  EXPECT_EQ(token.use_count(), 2);
  context.reset();
  EXPECT_EQ(token.use_count(), 1);
  char c;
  EXPECT_EQ(::recv(pair[1], &c, 1, MSG_DONTWAIT), 0);
}

// The pending read was submitted by a thread that exits: nobody may notice.
TEST_P(io_handle_on, an_operation_outlives_the_thread_that_started_it) {
  outcome result;
  std::thread([&] {
    read(data, 1, result.handler());
    context->poll();
  }).join();
  context->restart();
  context->poll();
  EXPECT_EQ(result.calls, 0);
  write("s");
  context->restart();
  context->run();
  EXPECT_EQ(result.calls, 1);
  EXPECT_EQ(result.bytes, 1u);
  EXPECT_FALSE(result.ec);
}

// P9: the first handler blocks its thread until a later read, served by the other, has completed.
TEST_P(io_handle_on, a_blocked_handler_holds_up_no_io_with_a_second_thread) {
  for (int round = 0; round < 20; ++round) {
    std::promise<void> served;
    char a, b;
    read(&a, 1, [&](error_code, std::size_t) {
      read(&b, 1, [&](error_code, std::size_t) { served.set_value(); });
      write("2");
      served.get_future().wait();
    });
    write("1");
    std::thread second([&] { context->run(); });
    context->run();
    second.join();
    context->restart();
    ASSERT_EQ(b, '2');
  }
}

TEST_P(io_handle_on, a_child_process_serves_what_was_pending) {
  outcome result;
  read(data, 1, result.handler());
  context->poll();
  const pid_t child = weft_test::start_told_child(
      [&] {
        context->restart();
        context->run();
        return result.calls == 1 && result.bytes == 1 && data[0] == 'c';
      },
      *context);
  io->cancel();
  context->restart();
  context->run();
  write("c");
  EXPECT_TRUE(weft_test::has_succeeded(child));
}

TEST_P(io_handle_on, a_descriptor_that_cannot_be_read_reports_its_error) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  detail::io_handle not_a_socket(*context);
  ASSERT_FALSE(not_a_socket.assign(fds[0]));
  outcome result;
  auto handler = result.handler();
  ::close(fds[1]);
  detail::start_io<read_operation>(not_a_socket, handler, context->get_executor(),
                                   *std::get<1>(GetParam()), data, std::size_t(1));
  context->run();
  EXPECT_EQ(result.ec, weft::error::not_socket);
}

// More completions than the completion queue holds, before anybody reaps one; and nobody but a poll
// that does not sleep is there to do it.
TEST_P(io_handle_on, a_full_completion_queue_loses_nothing) {
  constexpr int count = 6000;
  std::list<detail::io_handle> handles;
  std::vector<int> peers;
  int calls = 0;
  std::vector<char> bytes(count);
  for (int i = 0; i < count; ++i) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
      GTEST_SKIP() << "the descriptor limit is too low";
    peers.push_back(fds[1]);
    handles.emplace_back(*context);
    ASSERT_FALSE(handles.back().assign(fds[0]));
    auto handler = [&calls](error_code ec, std::size_t n) { calls += !ec && n == 1; };
    detail::start_io<read_operation>(handles.back(), handler, context->get_executor(),
                                     *std::get<1>(GetParam()), &bytes[static_cast<std::size_t>(i)],
                                     std::size_t(1));
  }
  context->poll();
  for (const int peer : peers)
    EXPECT_EQ(::write(peer, "x", 1), 1);
  for (int i = 0; i != 100 && calls != count; ++i) {
    context->restart();
    context->poll();
  }
  EXPECT_EQ(calls, count);
  for (const int peer : peers)
    ::close(peer);
}

}  // namespace
