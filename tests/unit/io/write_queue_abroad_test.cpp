// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "unit/io/paced_write_queue.hpp"

namespace {

using weft::awaitable;
using weft::buffer;
using weft::detached;
using weft::io_context;
using weft_test::write_queue_test;

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

}  // namespace
