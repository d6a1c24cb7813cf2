// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/base/error.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "support/misuse.hpp"
#include "unit/io/paced_write_queue.hpp"

namespace {

using weft::awaitable;
using weft::buffer;
using weft::detached;
using weft_test::expect_assertion;
using weft_test::write_queue_test;

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
  EXPECT_EQ(order, (std::vector{&idle, &a, &flushed}));
  stream.take_all();
  run();
  EXPECT_EQ(order, (std::vector{&idle, &a, &flushed, &b}));
}

TEST_F(write_queue_test, a_flush_can_be_cancelled_also_behind_a_write_under_way) {
  outcome a, b, by_signal, by_queue;
  weft::cancellation_signal signal;
  queue->async_write(buffer("aaa", 3), keep(a));
  queue->async_write(buffer("bbb", 3), keep(b));
  queue->async_flush(weft::bind_cancellation_slot(signal.slot(), keep_code(by_signal)));
  queue->async_flush(keep_code(by_queue));
  stream.take_all();
  run();
  EXPECT_EQ(order, (std::vector{&a}));
  signal.emit(weft::cancellation_type::total);
  run();
  EXPECT_EQ(by_signal.ec, weft::error::operation_aborted);
  queue->cancel();
  run();
  EXPECT_EQ(by_queue.ec, weft::error::operation_aborted);
  EXPECT_EQ(b.calls, 0);
  stream.take_all();
  run();
  EXPECT_FALSE(b.ec);
  EXPECT_EQ(stream.written, "aaabbb");
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

// ---- misuse

TEST_F(write_queue_test, marks_in_the_wrong_order_are_told_of) {
  expect_assertion([this] { const weft::write_queue out(stream, {.high = 1000}); },
                   "low mark is above its high one");
}

TEST_F(write_queue_test, a_stream_that_writes_more_than_it_was_given_is_told_of) {
  expect_assertion(
      [this] {
        queue->async_write(buffer("abc", 3), detached);
        stream.take(4);
        run();
      },
      "written more than a write_queue gave it");
}

}  // namespace
