// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_until.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/writable_pipe.hpp>

#include "support/backend.hpp"

namespace {

using weft::awaitable;
using weft::buffer;
using weft::detached;
using weft::error_code;
using weft::io_context;
using weft::write_queue;

/// A stream whose writes take what the test says.
class paced_stream {
 public:
  using executor_type = io_context::executor_type;

  explicit paced_stream(io_context& context) : context_(&context) {}
  executor_type get_executor() const noexcept { return context_->get_executor(); }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return weft::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& b) {
          ++calls;
          if (throws)
            throw std::bad_alloc();
          parts = static_cast<std::size_t>(
              std::distance(weft::buffer_sequence_begin(b), weft::buffer_sequence_end(b)));
          offered.resize(weft::buffer_size(b));
          weft::buffer_copy(buffer(offered), b);
          if (drops)
            return;
          pending = std::move(handler);
          if (throws_late)
            throw std::bad_alloc();
        },
        token, buffers);
  }

  /// The write under way takes so much.
  void take(std::size_t n, error_code ec = {}) {
    ASSERT_TRUE(pending);
    written += offered.substr(0, n);
    offered.clear();
    weft::post(get_executor(), [h = std::move(pending), n, ec]() mutable { std::move(h)(ec, n); });
  }
  void take_all() { take(offered.size()); }

  int calls = 0;
  bool throws = false;
  bool throws_late = false;
  bool drops = false;
  std::size_t parts = 0;
  std::string offered;
  std::string written;
  weft::any_completion_handler<void(error_code, std::size_t)> pending;

 private:
  io_context* context_;
};

class write_queue_test : public ::testing::Test {
 protected:
  /// What became of a write.
  struct outcome {
    int calls = 0;
    error_code ec;
    std::size_t n = 0;
  };
  auto keep(outcome& o) {
    return [this, &o](error_code ec, std::size_t n) {
      ++o.calls;
      o.ec = ec;
      o.n = n;
      order.push_back(&o);
    };
  }
  auto keep_code(outcome& o) {
    return [this, &o](error_code ec) { keep(o)(ec, 0); };
  }
  void run() {
    context->poll();
    context->restart();
  }

  std::unique_ptr<io_context> context = std::make_unique<io_context>();
  paced_stream stream{*context};
  std::optional<write_queue<paced_stream&>> queue{std::in_place, stream,
                                                  weft::write_queue_options{100, 40}};
  std::vector<outcome*> order;
};

TEST_F(write_queue_test, writes_whole_writes_in_order_however_little_the_stream_takes) {
  outcome a, b, c;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  queue->async_write(buffer("ccc", 3), keep(c));
  EXPECT_EQ(stream.calls, 1);
  EXPECT_EQ(stream.offered, "aaa");
  EXPECT_EQ(queue->queued(), 9u);
  stream.take(1);
  run();
  EXPECT_EQ(a.calls, 0);
  EXPECT_EQ(stream.offered, "aabbbccc") << "one call for all that wait";
  EXPECT_EQ(stream.parts, 3u);
  stream.take(6);
  run();
  EXPECT_EQ(a.calls, 1);
  EXPECT_EQ(b.calls, 1);
  EXPECT_EQ(c.calls, 0);
  EXPECT_EQ(stream.offered, "cc");
  stream.take(2);
  run();
  EXPECT_EQ(c.calls, 1);
  EXPECT_EQ(order, (std::vector{&a, &b, &c}));
  for (const outcome* o : order) {
    EXPECT_FALSE(o->ec);
    EXPECT_EQ(o->n, 3u);
  }
  EXPECT_EQ(stream.written, "aaabbbccc");
  EXPECT_EQ(queue->queued(), 0u);
  EXPECT_FALSE(stream.pending);
}

TEST_F(write_queue_test, keeps_what_owns_its_bytes) {
  outcome a, b;
  queue->async_write(std::string(40, 'x'), keep(a));
  {
    const std::string copied(40, 'y');
    queue->async_write(copied, keep(b));
  }
  stream.take_all();
  run();
  stream.take_all();
  run();
  EXPECT_EQ(b.n, 40u);
  EXPECT_EQ(stream.written, std::string(40, 'x') + std::string(40, 'y'));
}

TEST_F(write_queue_test, writes_sequences_of_buffers_also_in_parts) {
  outcome a;
  const std::array<weft::const_buffer, 4> parts{buffer("ab", 2), weft::const_buffer(),
                                                buffer("cde", 3), buffer("f", 1)};
  queue->async_write(parts, keep(a));
  EXPECT_EQ(stream.offered, "abcdef");
  EXPECT_EQ(stream.parts, 3u);
  stream.take(3);
  run();
  EXPECT_EQ(stream.offered, "def");
  stream.take(3);
  run();
  EXPECT_EQ(a.n, 6u);
}

TEST_F(write_queue_test, gives_the_stream_64_buffers_at_a_time) {
  std::vector<outcome> all(100);
  std::string expected;
  for (std::size_t i = 0; i != all.size(); ++i) {
    expected += static_cast<char>('a' + i % 26);
    queue->async_write(std::string(1, expected.back()), keep(all[i]));
  }
  stream.take_all();
  run();
  EXPECT_EQ(stream.parts, 64u);
  stream.take_all();
  run();
  EXPECT_EQ(stream.parts, 35u);
  stream.take_all();
  run();
  EXPECT_EQ(stream.written, expected);
  EXPECT_EQ(order.size(), 100u);
  EXPECT_EQ(stream.calls, 3);
}

TEST_F(write_queue_test, a_write_of_more_buffers_than_a_call_takes_goes_in_several) {
  std::vector<weft::const_buffer> parts(70, buffer("z", 1));
  outcome a;
  queue->async_write(parts, keep(a));
  EXPECT_EQ(stream.parts, 64u);
  stream.take_all();
  run();
  EXPECT_EQ(stream.parts, 6u);
  stream.take_all();
  run();
  EXPECT_EQ(a.n, 70u);
}

TEST_F(write_queue_test, a_write_that_has_not_begun_can_be_cancelled_and_leaves_no_byte) {
  weft::cancellation_signal begun_signal;
  weft::cancellation_signal waiting_signal;
  outcome a, b, c;
  queue->async_write(buffer("aaa", 3), weft::bind_cancellation_slot(begun_signal.slot(), keep(a)));
  queue->async_write(buffer("bbb", 3),
                     weft::bind_cancellation_slot(waiting_signal.slot(), keep(b)));
  queue->async_write(buffer("ccc", 3), keep(c));
  begun_signal.emit(weft::cancellation_type::terminal);
  waiting_signal.emit(weft::cancellation_type::total);
  EXPECT_EQ(queue->queued(), 6u);
  run();
  EXPECT_EQ(order, std::vector{&b});
  EXPECT_EQ(b.ec, weft::error::operation_aborted);
  EXPECT_EQ(b.n, 0u);
  stream.take_all();
  run();
  stream.take_all();
  run();
  EXPECT_FALSE(a.ec);
  EXPECT_FALSE(c.ec);
  EXPECT_EQ(stream.written, "aaaccc");
}

TEST_F(write_queue_test, cancel_ends_all_that_has_not_begun) {
  outcome a, b, c;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  queue->async_flush(keep_code(c));
  queue->cancel();
  run();
  EXPECT_EQ(order, (std::vector{&b, &c}));
  EXPECT_EQ(b.ec, weft::error::operation_aborted);
  EXPECT_EQ(c.ec, weft::error::operation_aborted);
  stream.take_all();
  run();
  EXPECT_FALSE(a.ec);
}

TEST_F(write_queue_test, an_error_of_the_stream_fails_all_and_all_to_come) {
  outcome a, b, c;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  stream.take(2, weft::error::connection_reset);
  run();
  EXPECT_EQ(a.ec, weft::error::connection_reset);
  EXPECT_EQ(a.n, 2u);
  EXPECT_EQ(b.ec, weft::error::connection_reset);
  EXPECT_EQ(b.n, 0u);
  queue->async_write(buffer("ccc", 3), keep(c));
  EXPECT_EQ(c.calls, 0);
  run();
  EXPECT_EQ(c.ec, weft::error::connection_reset);
  EXPECT_EQ(stream.calls, 1);
  EXPECT_EQ(queue->queued(), 0u);
}

TEST_F(write_queue_test, a_stream_that_takes_nothing_is_broken) {
  outcome a;
  queue->async_write(buffer("aaa", 3), keep(a));
  stream.take(0);
  run();
  EXPECT_EQ(a.ec, weft::error::broken_pipe);
}

TEST_F(write_queue_test, what_starting_a_write_throws_fails_it) {
  outcome a;
  stream.throws = true;
  queue->async_write(buffer("aaa", 3), keep(a));
  EXPECT_EQ(a.calls, 0);
  run();
  EXPECT_EQ(a.ec, weft::error::no_memory);
}

TEST_F(write_queue_test, a_flush_completes_when_all_before_it_is_written) {
  outcome idle, a, flushed, b;
  queue->async_flush(keep_code(idle));
  EXPECT_EQ(idle.calls, 0);
  run();
  EXPECT_EQ(idle.calls, 1);
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_flush(keep_code(flushed));
  queue->async_write(buffer("bbb", 3), keep(b));
  run();
  EXPECT_EQ(flushed.calls, 0);
  stream.take_all();
  run();
  stream.take_all();
  run();
  EXPECT_EQ(order, (std::vector{&idle, &a, &flushed, &b}));
}

TEST_F(write_queue_test, a_flush_behind_the_last_write_needs_no_call) {
  outcome a, flushed;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_flush(keep_code(flushed));
  stream.take_all();
  run();
  EXPECT_EQ(flushed.calls, 1);
  EXPECT_EQ(stream.calls, 1);
}

TEST_F(write_queue_test, is_full_from_the_high_mark_until_the_low_one) {
  outcome a, b, open, full, cancelled;
  weft::cancellation_signal signal;
  queue->async_write(std::string(99, 'a'), keep(a));
  queue->async_wait_writable(keep_code(open));
  EXPECT_EQ(open.calls, 0);
  run();
  EXPECT_EQ(open.calls, 1);
  queue->async_write(std::string(1, 'b'), keep(b));
  queue->async_wait_writable(keep_code(full));
  queue->async_wait_writable(weft::bind_cancellation_slot(signal.slot(), keep_code(cancelled)));
  signal.emit(weft::cancellation_type::partial);
  stream.take(59);
  run();
  EXPECT_EQ(cancelled.ec, weft::error::operation_aborted);
  EXPECT_EQ(queue->queued(), 41u);
  EXPECT_EQ(full.calls, 0);
  stream.take(1);
  run();
  EXPECT_EQ(full.calls, 1);
  EXPECT_FALSE(full.ec);
}

TEST_F(write_queue_test, lets_go_on_who_waits_for_room_when_the_stream_fails) {
  outcome a, full;
  queue->async_write(std::string(200, 'a'), keep(a));
  queue->async_wait_writable(keep_code(full));
  stream.take(0, weft::error::broken_pipe);
  run();
  EXPECT_EQ(full.calls, 1);
  EXPECT_FALSE(full.ec);
}

TEST_F(write_queue_test, closed_writes_what_it_has_and_refuses_more) {
  outcome a, b, refused, flushed;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  queue->close();
  queue->async_write(buffer("ccc", 3), keep(refused));
  queue->async_flush(keep_code(flushed));
  run();
  EXPECT_EQ(refused.ec, weft::error::shut_down);
  stream.take_all();
  run();
  stream.take_all();
  run();
  EXPECT_FALSE(b.ec);
  EXPECT_EQ(stream.written, "aaabbb");
  EXPECT_EQ(flushed.calls, 1);
  EXPECT_FALSE(flushed.ec);
}

TEST_F(write_queue_test, destroyed_it_aborts_what_has_not_begun_and_ends_the_rest_with_the_stream) {
  outcome a, b, full;
  queue->async_write(std::string(200, 'a'), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  queue->async_wait_writable(keep_code(full));
  queue.reset();
  run();
  EXPECT_EQ(a.calls, 0);
  EXPECT_EQ(b.ec, weft::error::operation_aborted);
  EXPECT_EQ(full.ec, weft::error::operation_aborted);
  stream.take(150);
  run();
  EXPECT_EQ(a.calls, 1);
  EXPECT_EQ(a.ec, weft::error::operation_aborted);
  EXPECT_EQ(a.n, 150u);
  EXPECT_EQ(stream.calls, 1);
}

TEST_F(write_queue_test, a_stream_that_drops_its_handler_fails_all_writes) {
  outcome a, b, c;
  queue->async_write(buffer("aaa", 3), keep(a));
  stream.take(1);
  run();
  queue->async_write(buffer("bbb", 3), keep(b));
  stream.pending = nullptr;
  EXPECT_EQ(a.calls, 0);
  run();
  EXPECT_EQ(a.ec, weft::error::operation_aborted);
  EXPECT_EQ(a.n, 1u);
  EXPECT_EQ(b.ec, weft::error::operation_aborted);
  queue->async_write(buffer("ccc", 3), keep(c));
  context->run();
  EXPECT_EQ(c.ec, weft::error::operation_aborted);
  EXPECT_EQ(stream.calls, 2);
}

TEST_F(write_queue_test, a_stream_that_drops_its_handler_inside_its_function_fails_all_writes) {
  outcome a, flushed;
  stream.drops = true;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_flush(keep_code(flushed));
  EXPECT_EQ(a.calls, 0);
  run();
  EXPECT_EQ(a.ec, weft::error::operation_aborted);
  EXPECT_EQ(flushed.ec, weft::error::operation_aborted);
}

TEST_F(write_queue_test, a_stream_that_throws_when_it_has_kept_its_handler_ends_the_write_once) {
  outcome a;
  stream.throws_late = true;
  queue->async_write(buffer("aaa", 3), keep(a));
  stream.take_all();
  run();
  EXPECT_EQ(a.calls, 1);
  EXPECT_FALSE(a.ec);
}

TEST_F(write_queue_test, serves_coroutines_and_futures) {
  bool is_done = false;
  co_spawn(
      *context,
      [&]() -> awaitable<void> {
        const std::size_t n = co_await queue->async_write(std::string("abc"));
        EXPECT_EQ(n, 3u);
        co_await queue->async_flush();
        co_await queue->async_wait_writable();
        is_done = true;
      },
      detached);
  auto written = queue->async_write(buffer("de", 2), weft::use_future);
  run();
  stream.take_all();
  run();
  stream.take_all();
  run();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(written.get(), 2u);
}

/// The handlers belong to another context than the stream.
class write_queue_abroad : public write_queue_test {
 protected:
  auto fail_if_called() {
    return weft::bind_executor(other->get_executor(), [owned = alive](auto&&...) { FAIL(); });
  }

  /// The write that has begun is not disturbed.
  void expect_only_the_first_is_written() {
    stream.take_all();
    run();
    EXPECT_EQ(first.calls, 1);
    EXPECT_FALSE(first.ec);
    EXPECT_FALSE(stream.pending);
    EXPECT_EQ(stream.written, std::string(100, 'a'));
    EXPECT_EQ(queue->queued(), 0u);
  }

  std::shared_ptr<int> alive = std::make_shared<int>();
  std::optional<io_context> other{std::in_place};
  outcome first;
};

TEST_F(write_queue_abroad, a_write_that_has_not_begun_is_destroyed_with_its_other_context) {
  queue->async_write(std::string(100, 'a'), keep(first));
  queue->async_write(std::string("bbb"), fail_if_called());
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  expect_only_the_first_is_written();
}

TEST_F(write_queue_abroad, a_write_of_a_coroutine_is_destroyed_with_its_other_context) {
  queue->async_write(std::string(100, 'a'), keep(first));
  co_spawn(
      *other,
      [](auto& q, std::shared_ptr<int>) -> awaitable<void> {
        const std::string line("bbb");
        co_await q.async_write(buffer(line));
        ADD_FAILURE();
      }(*queue, alive),
      detached);
  other->poll();
  EXPECT_EQ(alive.use_count(), 2);
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  expect_only_the_first_is_written();
}

TEST_F(write_queue_abroad, a_flush_is_destroyed_with_its_other_context) {
  queue->async_write(std::string(100, 'a'), keep(first));
  queue->async_flush(fail_if_called());
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  expect_only_the_first_is_written();
}

TEST_F(write_queue_abroad, who_waits_for_room_is_destroyed_with_its_other_context) {
  queue->async_write(std::string(100, 'a'), keep(first));
  queue->async_wait_writable(fail_if_called());
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  expect_only_the_first_is_written();
}

TEST_F(write_queue_abroad, a_write_that_has_ended_is_destroyed_with_its_other_context) {
  queue->async_write(std::string("hello"), fail_if_called());
  stream.take_all();
  run();
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
}

/// Tells that the context ends.
class end_teller final : public weft::execution_context::service {
 public:
  using key_type = end_teller;
  using service::service;
  std::promise<void> ends;

 private:
  void shutdown() noexcept override { ends.set_value(); }
};

TEST_F(write_queue_abroad, the_end_of_its_other_context_awaits_a_write_that_has_begun) {
  queue->async_write(std::string("hello"), fail_if_called());
  std::future<void> ends = weft::use_service<end_teller>(*other).ends.get_future();
  std::atomic<bool> is_written = false;
  std::thread end([&] {
    other.reset();
    EXPECT_TRUE(is_written);
    EXPECT_EQ(alive.use_count(), 1);
  });
  ends.wait();
  for (int i = 0; i != 100; ++i)  // an end that does not wait is over then
    std::this_thread::yield();
  is_written = true;
  stream.take_all();
  run();
  end.join();
  EXPECT_EQ(stream.written, "hello");
  EXPECT_EQ(queue->queued(), 0u);
}

/// Over a pipe.
class write_queue_on : public weft_test::backend_test {
 protected:
  write_queue_on() { weft::connect_pipe(reader, writer); }

  weft::readable_pipe reader{context};
  weft::writable_pipe writer{context};
};

TEST_P(write_queue_on, memory_stays_bounded_while_the_peer_reads_nothing) {
  write_queue queue(writer, {10'000, 5'000});
  constexpr std::size_t count = 2'000;
  constexpr std::size_t size = 1'000;
  std::size_t produced = 0;
  std::size_t most = 0;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        for (; produced != count; ++produced) {
          co_await queue.async_wait_writable();
          queue.async_write(std::string(size, static_cast<char>('a' + produced % 26)), detached);
          most = std::max(most, queue.queued());
        }
        co_await queue.async_flush();
        writer.close();
      },
      detached);
  context.poll();
  EXPECT_LT(produced, count) << "the pipe is full";
  EXPECT_GT(produced, 0u);
  context.restart();
  std::string received;
  weft::async_read(reader, weft::dynamic_buffer(received),
                   [&](error_code ec, std::size_t) { EXPECT_EQ(ec, weft::error::eof); });
  context.run();
  EXPECT_EQ(produced, count);
  EXPECT_LE(most, 10'000 + size);
  ASSERT_EQ(received.size(), count * size);
  for (std::size_t i = 0; i != count; ++i)
    ASSERT_EQ(received.substr(i * size, size), std::string(size, static_cast<char>('a' + i % 26)));
}

TEST_P(write_queue_on, writers_on_four_threads_do_not_interleave) {
  constexpr int writers = 4;
  constexpr int lines = 500;
  write_queue queue(writer);
  std::atomic<int> ended = 0;
  weft::thread_pool pool(writers);
  for (int w = 0; w != writers; ++w)
    co_spawn(
        pool,
        [&, w]() -> awaitable<void> {
          for (int i = 0; i != lines; ++i) {
            const std::string line = std::to_string(w) + ' ' + std::to_string(i) + '\n';
            if (i % 2)
              co_await queue.async_write(buffer(line));
            else
              queue.async_write(line, detached);
          }
          co_await queue.async_flush();
          if (++ended == writers)
            weft::post(context, [&] { writer.close(); });
        },
        detached);
  std::string received;
  weft::async_read(reader, weft::dynamic_buffer(received),
                   [&](error_code ec, std::size_t) { EXPECT_EQ(ec, weft::error::eof); });
  auto work = weft::make_work_guard(context);
  std::thread other([&] { context.run(); });
  pool.join();
  work.reset();
  other.join();
  std::array<int, writers> next{};
  std::size_t at = 0;
  while (at != received.size()) {
    const std::size_t end = received.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const auto w = static_cast<std::size_t>(received[at] - '0');
    ASSERT_LT(w, next.size());
    EXPECT_EQ(received.substr(at + 2, end - at - 2), std::to_string(next[w]++));
    at = end + 1;
  }
  for (const int n : next)
    EXPECT_EQ(n, lines);
}

TEST_P(write_queue_on, of_its_own_stream_ends_with_it) {
  std::optional<write_queue<weft::writable_pipe>> queue(std::in_place, std::move(writer));
  error_code begun;
  error_code waiting;
  int calls = 0;
  queue->async_write(std::string(1'000'000, 'x'), [&](error_code ec, std::size_t n) {
    begun = ec;
    EXPECT_LT(n, 1'000'000u);
    ++calls;
  });
  queue->async_write(std::string("y"), [&](error_code ec, std::size_t) {
    waiting = ec;
    ++calls;
  });
  context.poll();
  context.restart();
  queue.reset();
  context.run();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(begun, weft::error::operation_aborted);
  EXPECT_EQ(waiting, weft::error::operation_aborted);
}

TEST_P(write_queue_on, is_destroyed_with_the_context_though_its_handlers_own_it) {
  auto end = std::make_unique<io_context>(weft_test::make_context_options(GetParam()));
  auto peer = std::make_unique<weft::readable_pipe>(*end);
  weft::writable_pipe stream(*end);
  weft::connect_pipe(*peer, stream);
  auto queue = std::make_shared<write_queue<weft::writable_pipe>>(std::move(stream));
  const std::weak_ptr<write_queue<weft::writable_pipe>> alive = queue;
  for (int i = 0; i != 3; ++i)
    queue->async_write(std::string(1'000'000, 'x'), [queue](error_code, std::size_t) { FAIL(); });
  queue->async_wait_writable([queue](error_code) { FAIL(); });
  end->poll();
  queue.reset();
  EXPECT_FALSE(alive.expired());
  peer.reset();
  end.reset();
  EXPECT_TRUE(alive.expired());
}

WEFT_INSTANTIATE_BACKENDS(write_queue_on);

}  // namespace
