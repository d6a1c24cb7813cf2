// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/watch.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "support/cancellable.hpp"
#include "support/misuse.hpp"
#include "unit/sync/completions.hpp"

namespace {

using weft::error_code;
using weft::io_context;
using weft::watch;
using weft_test::cancellable;
using weft_test::expect_assertion;
using weft_test::received;
namespace error = weft::error;
namespace sharing = weft::sharing;

template <class Policy>
class watch_test : public ::testing::Test {
 public:
  void run() {
    context.restart();
    context.poll();
  }
  io_context context;
};
using policies = ::testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(watch_test, policies);

TYPED_TEST(watch_test, has_the_latest_value) {
  watch<std::string, TypeParam> w(this->context, "first");
  EXPECT_EQ(w.get(), "first");
  EXPECT_EQ(w.version(), 1u);
  EXPECT_TRUE(w.set("second"));
  EXPECT_TRUE(w.set("third"));
  const auto [value, version] = w.get_with_version();
  EXPECT_EQ(value, "third");
  EXPECT_EQ(version, 3u);
}

TYPED_TEST(watch_test, wakes_all_who_know_another_version) {
  watch<int, TypeParam> w(this->context, 1);
  received<std::uint64_t> waits[3];
  w.async_changed(1, waits[0].handler());
  w.async_changed(1, waits[1].handler());
  w.async_changed(0, waits[2].handler());
  this->run();
  EXPECT_FALSE(waits[0].ec);
  EXPECT_EQ(waits[2].value, 1u);
  w.set(5);
  w.set(6);
  this->run();
  EXPECT_EQ(waits[0].ec, error_code());
  EXPECT_EQ(waits[0].value, 2u);
  EXPECT_EQ(waits[1].value, 2u);
  EXPECT_EQ(w.get(), 6);
}

TYPED_TEST(watch_test, tells_who_knows_the_last_version_that_it_has_been_closed) {
  watch<int, TypeParam> w(this->context, 1);
  received<std::uint64_t> waits[3];
  w.async_changed(1, waits[0].handler());
  w.close();
  EXPECT_FALSE(w.set(2));
  w.async_changed(1, waits[1].handler());
  w.async_changed(0, waits[2].handler());
  this->run();
  EXPECT_EQ(waits[0].ec, error::channel_closed);
  EXPECT_EQ(waits[1].ec, error::channel_closed);
  EXPECT_EQ(waits[2].ec, error_code());
  EXPECT_EQ(w.get(), 1);
}

TYPED_TEST(watch_test, cancels_one_wait_and_at_its_end_all) {
  weft::cancellation_signal signal;
  received<std::uint64_t> waits[2];
  {
    watch<int, TypeParam> w(this->context, 1);
    w.async_changed(1, cancellable(signal, waits[0].handler()));
    w.async_changed(1, waits[1].handler());
    signal.emit(weft::cancellation_type::terminal);
    this->run();
    EXPECT_EQ(waits[0].ec, error::operation_aborted);
    EXPECT_FALSE(waits[1].ec);
  }
  this->run();
  EXPECT_EQ(waits[1].ec, error::operation_aborted);
}

TYPED_TEST(watch_test, a_context_may_end_while_it_waits) {
  auto own = std::make_unique<io_context>();
  auto w = std::make_shared<watch<int, TypeParam>>(*own, 1);
  const std::weak_ptr observer = w;
  w->async_changed(1, [w](error_code, std::uint64_t) { FAIL(); });
  w.reset();
  own.reset();
  EXPECT_TRUE(observer.expired());
}

TEST(watch_threads, who_follows_it_comes_to_the_last_value) {
  weft::thread_pool pool(2);
  watch<int> w(pool, 0);
  constexpr int last = 3000;
  const auto follow = [&]() -> weft::awaitable<void> {
    int before = -1;
    for (std::uint64_t version = 0; before != last;) {
      version = co_await w.async_changed(version);
      const int value = w.get();
      EXPECT_LE(before, value);
      before = value;
    }
  };
  auto one = co_spawn(pool, follow, weft::use_future);
  auto two = co_spawn(pool, follow, weft::use_future);
  for (int i = 1; i <= last; ++i)
    w.set(i);
  one.get();
  two.get();
}

// ---- misuse

TEST(local_watch_death, a_second_thread_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        watch<int, sharing::local> number(context, 0);
        number.set(1);
        std::thread([&] { number.set(2); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

}  // namespace
