// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/fiber/fiber_context.hpp>
#include <weft/coro/this_fiber.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/sanitizer.hpp"

namespace {

using weft::detached;
using weft::io_context;
using weft::spawn;
using weft::yield_context;

TEST(fiber_exceptions, handlers_of_several_fibers_nest_in_each_alone) {
  io_context context;
  int ended = 0;
  for (int i = 0; i != 3; ++i)
    spawn(
        context,
        [&, i](yield_context yield) {
          for (int n = 0; n != 5; ++n) {
            try {
              throw std::runtime_error(std::to_string(i));
            } catch (const std::runtime_error& e) {
              yield.yield();
              EXPECT_EQ(e.what(), std::to_string(i));
              try {
                try {
                  throw;
                } catch (...) {
                  yield.yield();
                  throw;
                }
              } catch (const std::runtime_error& again) {
                yield.yield();
                EXPECT_EQ(again.what(), std::to_string(i));
              }
            }
            EXPECT_FALSE(std::current_exception());
            yield.yield();
          }
          ++ended;
        },
        detached);
  context.run();
  EXPECT_EQ(ended, 3);
}

/// Waits in its destructor.
struct waits_at_the_end {
  yield_context yield;
  int& before;
  int& after;
  ~waits_at_the_end() {
    before = std::uncaught_exceptions();
    yield.yield();
    after = std::uncaught_exceptions();
  }
};

TEST(fiber_exceptions, those_in_flight_are_counted_per_fiber) {
  io_context context;
  int before = -1, after = -1, other = -1;
  spawn(
      context,
      [&](yield_context yield) {
        try {
          const waits_at_the_end waits{yield, before, after};
          throw std::runtime_error("in flight");
        } catch (const std::runtime_error&) {}
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      },
      detached);
  post(context, [&] { other = std::uncaught_exceptions(); });
  context.run();
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(other, 0) << "outside of the fiber";
}

TEST(fiber_exceptions, one_in_flight_outside_stays_there) {
  io_context context;
  int inside = -1;
  spawn(
      context,
      [&](yield_context yield) {
        inside = std::uncaught_exceptions();
        try {
          throw 1;
        } catch (int) {
          yield.yield();
        }
      },
      detached);
  struct runs_at_the_end {
    io_context& context;
    ~runs_at_the_end() {
      context.run();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  try {
    const runs_at_the_end runs{context};
    throw std::string("outside");
  } catch (const std::string& s) {
    EXPECT_EQ(s, "outside");
  }
  EXPECT_EQ(inside, 0);
}

TEST(fiber_exceptions, go_with_the_fiber_from_thread_to_thread) {
  weft::thread_pool pool(4);
  std::atomic<int> ended{0};
  for (int i = 0; i != 32; ++i)
    spawn(
        pool,
        [&, i](yield_context yield) {
          for (int n = 0; n != 50; ++n)
            try {
              throw i;
            } catch (int caught) {
              yield.yield();
              EXPECT_EQ(caught, i);
              try {
                std::rethrow_exception(std::current_exception());
              } catch (int again) {
                yield.yield();
                EXPECT_EQ(again, i);
              }
            }
          ++ended;
        },
        detached);
  pool.join();
  EXPECT_EQ(ended, 32);
}

TEST(fiber_exceptions, what_unwinds_a_fiber_may_be_caught_and_rethrown_after_waiting) {
  std::vector<std::string> seen;
  {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          weft::steady_timer never(context, weft::steady_timer::time_point::max());
          try {
            never.async_wait(yield);
          } catch (const std::exception&) {
            seen.emplace_back("an error");
          } catch (...) {
            seen.emplace_back("unwound");
            try {
              yield.yield();
            } catch (...) {
              seen.emplace_back("again");
            }
            throw;
          }
        },
        detached);
    context.poll();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"unwound", "again"}));
}

TEST(fiber_exceptions, what_the_end_of_a_context_unwinds_may_happen_in_flight) {
  bool unwound = false;
  try {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          struct at_the_end {
            bool& flag;
            ~at_the_end() { flag = std::uncaught_exceptions() == 1; }
          } const mark{unwound};
          weft::steady_timer never(context, weft::steady_timer::time_point::max());
          never.async_wait(yield);
        },
        detached);
    context.poll();
    throw std::runtime_error("outside");
  } catch (const std::runtime_error&) {}
  EXPECT_TRUE(unwound);
}

// A death test forks; ThreadSanitizer's fibers do not survive that.
#if !WEFT_TEST_TSAN

TEST(fiber_exceptions_death, one_that_swallows_what_unwinds_it_ends_the_program_with_a_message) {
  const auto swallow = [] {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          try {
            weft::steady_timer never(context, weft::steady_timer::time_point::max());
            never.async_wait(yield);
          } catch (...) {}
        },
        detached);
    context.poll();
  };
  EXPECT_DEATH(swallow(), "End catch \\(...\\) with throw;");
  const auto wait_forever = [] {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          for (;;)
            try {
              yield.yield();
            } catch (...) {}
        },
        detached);
    context.poll_one();
  };
  EXPECT_DEATH(wait_forever(), "End catch \\(...\\) with throw;");
}

TEST(fiber_exceptions_death, a_wait_inside_an_initiating_function_is_told_of) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto wait_twice = [] {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          weft::async_initiate<yield_context, void()>(
              [&](auto handler) {
                post(yield);
                post(context, std::move(handler));
              },
              yield);
        },
        detached);
    context.run();
  };
  EXPECT_DEATH(wait_twice(), "waits inside the initiating function");
}

[[gnu::noinline]] std::size_t recurse(std::size_t depth) {
  volatile char page[1024];
  page[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : recurse(depth - 1) + static_cast<std::size_t>(page[0] != 0);
}

TEST(fiber_exceptions_death, an_overflow_names_the_fiber_and_the_size_of_its_stack) {
#if WEFT_TEST_ASAN
  GTEST_SKIP() << "AddressSanitizer reports it in its own way";
#endif
  const auto overflow = [] {
    io_context context;
    spawn(
        context, weft::stack_size(32 * 1024),
        [](yield_context yield) {
          post(yield);
          recurse(1'000'000);
        },
        detached);
    context.run();
  };
  EXPECT_DEATH(overflow(),
               "a fiber has overflowed its stack of 3[0-9]+ bytes.*"
               "fiber_exceptions_test.cpp:.*larger stack_size");
}

#endif

}  // namespace
