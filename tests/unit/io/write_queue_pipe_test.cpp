// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <weft/async/detached.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/base/error.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/read.hpp>
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
