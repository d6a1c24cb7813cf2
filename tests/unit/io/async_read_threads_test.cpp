// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/io/read.hpp>

namespace {

/// Gives one byte at once to each of the first `generous` reads, and nothing ever to a later one.
class drying_stream {
 public:
  using executor_type = weft::thread_pool::executor_type;

  drying_stream(weft::thread_pool& pool, int generous) : pool_(pool), generous_(generous) {}

  executor_type get_executor() { return pool_.get_executor(); }

  /// Returns while the read that gets nothing is starting, before it has a cancellation handler.
  void wait_until_dry() const { reached_.wait(false); }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers&, Handler&& handler) {
    if (generous_ != 0) {
      --generous_;
      weft::post(pool_,
                 [h = std::move(handler)]() mutable { std::move(h)(weft::error_code(), 1); });
      return;
    }
    auto slot = weft::get_associated_cancellation_slot(handler);
    linger_before_it_can_hear();
    {
      const std::lock_guard lock(mutex_);
      pending_ = std::make_unique<pending<std::decay_t<Handler>>>(std::move(handler));
    }
    slot.assign([this](weft::cancellation_type) {
      std::unique_ptr<pending_base> op;
      {
        const std::lock_guard lock(mutex_);
        op = std::move(pending_);
      }
      if (op)
        weft::post(pool_, [op = std::move(op)]() mutable { op->abort(); });
    });
  }

 private:
  struct pending_base {
    virtual ~pending_base() = default;
    virtual void abort() = 0;
  };
  template <class Handler>
  struct pending final : pending_base {
    explicit pending(Handler&& h) : handler(std::move(h)) {}
    void abort() override {
      weft::get_associated_cancellation_slot(handler).clear();
      std::move(handler)(weft::error_code(weft::error::operation_aborted), 0);
    }
    Handler handler;
  };

  void linger_before_it_can_hear() {
    reached_ = true;
    reached_.notify_one();
    for (int i = 0; i != 100; ++i)
      std::this_thread::yield();
  }

  weft::thread_pool& pool_;
  int generous_;
  std::atomic<bool> reached_{false};
  std::mutex mutex_;
  std::unique_ptr<pending_base> pending_;
};

// Reads until the request comes, which alone can end it: a lost one hangs the test.
void cancel_a_read(weft::thread_pool& pool, int generous, bool in_the_gap, int spin) {
  drying_stream stream(pool, generous);
  weft::cancellation_signal signal;
  std::atomic<bool> started{false};
  std::atomic<bool> done{false};
  weft::error_code result;
  std::size_t transferred = 0;
  char data[100];
  weft::post(pool, [&] {
    weft::async_read(
        stream, weft::buffer(data),
        weft::bind_cancellation_slot(signal.slot(), [&](weft::error_code ec, std::size_t n) {
          result = ec;
          transferred = n;
          done = true;
          done.notify_one();
        }));
    started = true;
    started.notify_one();
  });
  if (in_the_gap)
    stream.wait_until_dry();
  else
    started.wait(false);
  for (int i = 0; i != spin; ++i)
    std::this_thread::yield();
  signal.emit(weft::cancellation_type::partial);
  done.wait(false);
  EXPECT_EQ(result, weft::error_code(weft::error::operation_aborted));
  EXPECT_LE(transferred, static_cast<std::size_t>(generous));
  started.wait(false);
}

TEST(async_read_threads, request_that_meets_the_start_of_a_step_is_not_lost) {
  weft::thread_pool pool(2);
  for (int i = 0; i != 50; ++i)
    cancel_a_read(pool, 1 + i % 3, true, i % 5);
  pool.join();
}

TEST(async_read_threads, request_at_any_moment_is_not_lost) {
  weft::thread_pool pool(2);
  for (int i = 0; i != 500; ++i)
    cancel_a_read(pool, i % 4, false, i % 64);
  pool.join();
}

}  // namespace
