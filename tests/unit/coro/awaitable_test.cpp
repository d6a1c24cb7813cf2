// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/awaitable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/use_awaitable.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/sync/async_event.hpp>

#include "support/misuse.hpp"
#include "unit/coro/parked.hpp"
#include "unit/coro/run_coroutine.hpp"
#include "unit/support/counting_allocator.hpp"

namespace {

using weft::awaitable;
using weft::co_spawn;
using weft::detached;
using weft::error_code;
using weft::io_context;
using weft_test::counting_allocator;
using weft_test::expect_assertion;
using weft_test::parked;
using weft_test::run;
namespace this_coro = weft::this_coro;

awaitable<int> number(int n) {
  co_return n;
}

/// An operation that completes inside its initiating function.
template <class... Values>
auto at_once(Values... values) {
  return weft::deferred.values(std::move(values)...);
}

TEST(awaitable, returns_what_its_coroutine_returns) {
  EXPECT_EQ(run([]() -> awaitable<int> { co_return co_await number(3) + co_await number(4); }), 7);
}

TEST(awaitable, returns_what_can_only_be_moved) {
  const auto make = [](int n) -> awaitable<std::unique_ptr<int>> {
    co_return std::make_unique<int>(n);
  };
  EXPECT_EQ(run([&]() -> awaitable<int> { co_return *co_await make(5); }), 5);
}

TEST(awaitable, returns_references) {
  int object = 1;
  const auto refer = [](int& r) -> awaitable<int&> { co_return r; };
  run([&]() -> awaitable<void> {
    int& same = co_await refer(object);
    EXPECT_EQ(&same, &object);
  });
}

TEST(awaitable, returns_what_has_no_default_constructor) {
  struct value {
    explicit value(int n) : number(n) {}
    int number;
  };
  const auto make = []() -> awaitable<value> { co_return value(6); };
  EXPECT_EQ(run([&]() -> awaitable<int> { co_return (co_await make()).number; }), 6);
}

TEST(awaitable, throws_what_leaves_the_coroutine_it_calls) {
  const auto fail = []() -> awaitable<int> {
    throw std::runtime_error("no");
    co_return 0;
  };
  run([&]() -> awaitable<void> {
    bool caught = false;
    try {
      co_await fail();
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "no";
    }
    EXPECT_TRUE(caught);
  });
  EXPECT_THROW(run(fail), std::runtime_error);
}

awaitable<int> depth(int n) {
  if (n == 0)
    co_return 0;
  co_return 1 + co_await depth(n - 1);
}

TEST(awaitable, calls_a_million_deep_and_returns_without_growing_the_stack) {
  EXPECT_EQ(run([]() -> awaitable<int> { co_return co_await depth(1'000'000); }), 1'000'000);
}

awaitable<int> deep_wait(int n) {
  if (n == 0) {
    co_await post(co_await this_coro::executor);
    co_return 0;
  }
  co_return 1 + co_await deep_wait(n - 1);
}

TEST(awaitable, returns_a_million_deep_after_a_wait) {
  EXPECT_EQ(run([]() -> awaitable<int> { co_return co_await deep_wait(1'000'000); }), 1'000'000);
}

awaitable<void> deep_failure(int n) {
  if (n == 0)
    throw std::runtime_error("at the bottom");
  co_await deep_failure(n - 1);
}

TEST(awaitable, an_exception_passes_many_levels) {
  EXPECT_THROW(run([] { return deep_failure(1000); }), std::runtime_error);
}

TEST(awaitable, one_that_is_not_run_destroys_its_arguments) {
  const auto object = std::make_shared<int>(1);
  const auto keep = [](std::shared_ptr<int>) -> awaitable<void> { co_return; };
  {
    const auto idle = keep(object);
    EXPECT_EQ(object.use_count(), 2);
    EXPECT_TRUE(idle.valid());
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(awaitable, moves_and_swaps) {
  awaitable<int> a = number(1);
  awaitable<int> b = std::move(a);
  EXPECT_FALSE(a.valid());
  a.swap(b);
  EXPECT_FALSE(b.valid());
  EXPECT_EQ(run([&]() -> awaitable<int> { co_return co_await std::move(a); }), 1);
}

// ---- operations

TEST(awaitable, an_operation_needs_no_token) {
  run([]() -> awaitable<void> {
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::milliseconds(1));
    co_await timer.async_wait();
    EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());
  });
}

TEST(awaitable, an_error_is_thrown_unless_a_token_takes_it) {
  run([]() -> awaitable<void> {
    weft::steady_timer timer(co_await this_coro::executor);
    const auto cancel_later = [&] {
      timer.expires_after(std::chrono::hours(1));
      weft::post(timer.get_executor(), [&] { timer.cancel(); });
    };
    error_code thrown;
    try {
      cancel_later();
      co_await timer.async_wait();
    } catch (const weft::system_error& e) {
      thrown = e.code();
    }
    EXPECT_EQ(thrown, weft::error::operation_aborted);

    cancel_later();
    const auto [as_value] = co_await timer.async_wait(weft::as_tuple);
    EXPECT_EQ(as_value, weft::error::operation_aborted);

    cancel_later();
    error_code redirected;
    co_await timer.async_wait(weft::redirect_error(weft::deferred, redirected));
    EXPECT_EQ(redirected, weft::error::operation_aborted);

    cancel_later();
    error_code by_awaitable;
    co_await timer.async_wait(weft::redirect_error(weft::use_awaitable, by_awaitable));
    EXPECT_EQ(by_awaitable, weft::error::operation_aborted);
  });
}

TEST(awaitable, results_are_nothing_a_value_or_a_tuple) {
  run([]() -> awaitable<void> {
    co_await at_once();
    co_await at_once(error_code());
    EXPECT_EQ(co_await at_once(7), 7);
    EXPECT_EQ(co_await at_once(error_code(), std::string("a")), "a");
    EXPECT_EQ(co_await at_once(1, 2), std::tuple(1, 2));
    const error_code eof = weft::error::eof;
    EXPECT_EQ(co_await at_once(error_code(), eof), eof);
    EXPECT_EQ(co_await at_once(std::exception_ptr(), eof, 3), std::tuple(eof, 3));
    const auto moved = co_await at_once(error_code(), std::make_unique<int>(8));
    EXPECT_EQ(*moved, 8);
    bool caught = false;
    try {
      co_await at_once(std::make_exception_ptr(std::logic_error("x")), 1);
    } catch (const std::logic_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
  });
}

TEST(awaitable, use_awaitable_gives_an_awaitable) {
  run([]() -> awaitable<void> {
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::milliseconds(1));
    awaitable<void> wait = timer.async_wait(weft::use_awaitable);
    co_await std::move(wait);
    using own_timer = weft::use_awaitable_t<>::as_default_on_t<weft::steady_timer>;
    own_timer other(co_await this_coro::executor, std::chrono::milliseconds(1));
    awaitable<void> by_default = other.async_wait();
    co_await std::move(by_default);
  });
}

TEST(awaitable, goes_on_in_its_executor_whoever_completes_the_operation) {
  io_context context;
  weft::thread_pool pool(1);
  const auto self = std::this_thread::get_id();
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        for (int i = 0; i != 100; ++i) {
          const auto there = co_await weft::post([] { return std::this_thread::get_id(); }, pool);
          EXPECT_NE(there, self);
          EXPECT_EQ(std::this_thread::get_id(), self);
        }
      },
      detached);
  context.run();
}

TEST(awaitable, a_strand_keeps_its_coroutines_from_running_at_once) {
  weft::thread_pool pool(3);
  const auto strand = weft::make_strand(pool);
  int unguarded = 0;
  const auto count = [&]() -> awaitable<void, weft::strand<weft::thread_pool::executor_type>> {
    for (int i = 0; i != 200; ++i) {
      ++unguarded;
      co_await weft::post(co_await this_coro::executor);
    }
  };
  for (int i = 0; i != 8; ++i)
    co_spawn(strand, count, detached);
  pool.join();
  EXPECT_EQ(unguarded, 1600);
}

TEST(awaitable, operations_that_complete_at_once_let_others_have_their_turn) {
  io_context context;
  int in_a_row = 0;
  int most = 0;
  bool ended = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        for (int i = 0; i != 1000; ++i) {
          most = std::max(most, ++in_a_row);
          co_await at_once(i);
        }
        ended = true;
      },
      detached);
  std::function<void()> other = [&] {
    in_a_row = 0;
    if (!ended)
      weft::post(context, other);
  };
  weft::post(context, other);
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_LE(most, 33);
  EXPECT_GT(most, 1) << "each suspends";
}

TEST(awaitable, operations_that_find_what_they_wait_for_do_not_suspend_it) {
  io_context context;
  int waited = 0;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        weft::steady_timer timer(co_await this_coro::executor);
        for (; waited != 3; ++waited)
          co_await timer.async_wait();
      },
      detached);
  EXPECT_EQ(context.run_one(), 1u);
  EXPECT_EQ(waited, 3);
}

TEST(awaitable, what_completes_at_once_goes_on_in_its_strand) {
  weft::thread_pool pool(2);
  const auto strand = weft::make_strand(pool);
  bool inside = false;
  co_spawn(
      strand,
      [&]() -> awaitable<void> {
        weft::steady_timer timer(pool.get_executor());
        co_await timer.async_wait();
        inside = strand.running_in_this_thread();
      },
      detached);
  pool.join();
  EXPECT_TRUE(inside);
}

TEST(awaitable, what_an_initiating_function_throws_is_thrown_by_co_await) {
  run([]() -> awaitable<void> {
    const auto refuse = [](auto&& token) {
      return weft::async_initiate<decltype(token), void(int)>(
          [](auto) { throw std::runtime_error("refused"); }, token);
    };
    bool caught = false;
    try {
      co_await refuse(weft::deferred);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
  });
}

TEST(awaitable, takes_what_is_awaitable_by_itself) {
  struct event {
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    int await_resume() const noexcept { return 9; }
  };
  EXPECT_EQ(run([]() -> awaitable<int> { co_return co_await event(); }), 9);
}

TEST(awaitable, may_be_resumed_by_others_and_ends_all_the_same) {
  io_context context;
  std::coroutine_handle<> handle;
  auto future = co_spawn(
      context,
      [&]() -> awaitable<int> {
        co_await parked{handle};
        co_return 4;
      },
      weft::use_future);
  context.run_one();
  ASSERT_TRUE(handle);
  handle.resume();
  context.run();
  EXPECT_EQ(future.get(), 4);
}

TEST(awaitable, one_that_is_resumed_by_another_coroutine_ends_in_its_own_executor) {
  io_context context;
  io_context other;
  std::coroutine_handle<> handle;
  std::future<int> first = co_spawn(
      other,
      [&]() -> awaitable<int> {
        co_await parked{handle};
        co_return 4;
      },
      weft::use_future);
  auto second = co_spawn(
      context,
      [&]() -> awaitable<int> {
        handle.resume();
        co_return 5;
      },
      weft::use_future);
  other.poll();
  context.run();
  EXPECT_EQ(second.get(), 5);
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  other.run();
  EXPECT_EQ(first.get(), 4);
}

// ---- cancellation

TEST(awaitable, a_slot_cancels_what_is_waited_for_and_the_next_wait_throws) {
  io_context context;
  weft::cancellation_signal signal;
  int thrown = 0;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
        for (int i = 0; i != 2; ++i) {
          try {
            co_await timer.async_wait();
          } catch (const weft::system_error& e) {
            thrown += e.code() == weft::error::operation_aborted;
          }
        }
        const auto state = co_await this_coro::cancellation_state;
        EXPECT_EQ(state.cancelled(), weft::cancellation_type::terminal);
        EXPECT_TRUE(co_await this_coro::throw_if_cancelled());
        co_await this_coro::throw_if_cancelled(false);
        co_await number(1);
        co_await this_coro::reset_cancellation_state();
        co_await this_coro::throw_if_cancelled(true);
        co_await number(1);
      },
      weft::bind_cancellation_slot(signal.slot(), [](std::exception_ptr e) { EXPECT_FALSE(e); }));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(thrown, 2);
}

TEST(awaitable, only_what_the_filter_lets_pass_cancels) {
  io_context context;
  weft::cancellation_signal signal;
  bool aborted = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(weft::enable_total_cancellation());
        weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
        const auto [ec] = co_await timer.async_wait(weft::as_tuple);
        aborted = ec == weft::error::operation_aborted;
      },
      weft::bind_cancellation_slot(signal.slot(), detached));
  context.poll();
  signal.emit(weft::cancellation_type::total);
  context.run();
  EXPECT_TRUE(aborted);
}

TEST(awaitable, one_that_is_cancelled_before_it_begins_throws_at_its_first_wait) {
  io_context context;
  weft::cancellation_signal signal;
  bool began = false;
  std::exception_ptr error;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        began = true;
        co_await number(1);
      },
      weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_TRUE(began);
  ASSERT_TRUE(error);
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
}

TEST(awaitable, an_emission_after_the_end_finds_nothing) {
  io_context context;
  weft::cancellation_signal signal;
  co_spawn(context, number(1),
           weft::bind_cancellation_slot(signal.slot(), [](std::exception_ptr, int) {}));
  context.run();
  EXPECT_FALSE(signal.slot().has_handler());
  signal.emit(weft::cancellation_type::all);
}

TEST(awaitable, may_be_cancelled_from_any_thread_at_any_time) {
  for (int round = 0; round != 200; ++round) {
    weft::thread_pool pool(2);
    weft::cancellation_signal signal;
    std::atomic<bool> ended{false};
    co_spawn(
        pool,
        [&]() -> awaitable<void> {
          weft::steady_timer timer(co_await this_coro::executor);
          for (;;) {
            timer.expires_after(std::chrono::microseconds(round % 7));
            co_await timer.async_wait();
          }
        },
        weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr) { ended = true; }));
    if (round % 3 == 0)
      std::this_thread::yield();
    signal.emit(weft::cancellation_type::terminal);
    pool.join();
    EXPECT_TRUE(ended);
  }
}

TEST(awaitable, an_emission_while_a_wait_begins_is_not_lost) {
  for (int round = 0; round != 300; ++round) {
    io_context context;
    weft::cancellation_signal signal;
    std::atomic<bool> begun{false};
    bool aborted = false;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
          weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
          begun = true;
          const auto [ec] = co_await timer.async_wait(weft::as_tuple);
          aborted = ec == weft::error::operation_aborted;
        },
        weft::bind_cancellation_slot(signal.slot(),
                                     [&](std::exception_ptr e) { aborted = aborted || e; }));
    std::thread emitting([&] {
      while (!begun) {}
      for (int spin = 0; spin != round % 50; ++spin)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      signal.emit(weft::cancellation_type::terminal);
    });
    context.run();
    emitting.join();
    EXPECT_TRUE(aborted);
  }
}

TEST(awaitable, a_request_between_two_waits_is_not_the_second_ones) {
  io_context context;
  weft::cancellation_signal signal;
  bool second = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await this_coro::throw_if_cancelled(false);
        signal.emit(weft::cancellation_type::terminal);
        weft::steady_timer timer(co_await this_coro::executor, std::chrono::milliseconds(1));
        const auto [ec] = co_await timer.async_wait(weft::as_tuple);
        second = !ec;
      },
      weft::bind_cancellation_slot(signal.slot(), detached));
  context.run();
  EXPECT_TRUE(second);
}

// ---- failure

struct thrown_by_moves {
  thrown_by_moves() = default;
  thrown_by_moves(const thrown_by_moves&) {
    if (throws-- == 0)
      throw std::bad_alloc();
  }
  static inline int throws = -1;
};

TEST(awaitable, an_operation_whose_move_throws_is_thrown_by_co_await) {
  for (int n = 0; n != 8; ++n) {
    bool caught = false;
    bool ended = false;
    run([&]() -> awaitable<void> {
      thrown_by_moves::throws = -1;
      auto operation = weft::async_initiate<const weft::deferred_t, void()>(
          [](auto handler, const thrown_by_moves&) { weft::post(std::move(handler)); },
          weft::deferred, thrown_by_moves());
      try {
        thrown_by_moves::throws = n;
        co_await std::move(operation);
      } catch (const std::bad_alloc&) {
        caught = true;
      }
      thrown_by_moves::throws = -1;
      ended = true;
    });
    EXPECT_TRUE(ended);
    if (n == 0) {
      EXPECT_TRUE(caught);
    }
  }
}

TEST(awaitable, results_whose_copy_throws_are_thrown_by_co_await) {
  struct result {
    result() = default;
    result(const result&) { throw std::bad_alloc(); }
    result& operator=(const result&) = default;
  };
  for (const bool in_place : {false, true}) {
    bool caught = false;
    run([&]() -> awaitable<void> {
      const auto operation = weft::async_initiate<const weft::deferred_t, void(const result&)>(
          [in_place, ex = co_await this_coro::executor](auto handler) {
            static const result value;
            if (in_place)
              std::move(handler)(value);
            else
              weft::post(ex, [h = std::move(handler)]() mutable { std::move(h)(value); });
          },
          weft::deferred);
      try {
        co_await operation;
      } catch (const std::bad_alloc&) {
        caught = true;
      }
    });
    EXPECT_TRUE(caught) << in_place;
  }
}

struct throwing_filter {
  throwing_filter() = default;
  throwing_filter(throwing_filter&&) {
    if (throws)
      throw std::runtime_error("filter");
  }
  throwing_filter(const throwing_filter&) = default;
  weft::cancellation_type operator()(weft::cancellation_type type) const { return type; }
  static inline bool throws = false;
};

TEST(awaitable, a_reset_that_fails_leaves_a_state_without_connection) {
  io_context context;
  weft::cancellation_signal signal;
  bool went_on = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        bool caught = false;
        try {
          throwing_filter::throws = true;
          co_await this_coro::reset_cancellation_state(throwing_filter());
        } catch (const std::runtime_error&) {
          caught = true;
        }
        throwing_filter::throws = false;
        EXPECT_TRUE(caught);
        co_await number(1);
        co_await weft::post(co_await this_coro::executor);
        went_on = true;
      },
      weft::bind_cancellation_slot(signal.slot(), detached));
  context.run();
  EXPECT_TRUE(went_on);
}

// ---- destruction

struct noted {
  noted(std::vector<int>& l, int n) : log(l), number(n) {}
  noted(const noted&) = delete;
  ~noted() { log.push_back(number); }
  std::vector<int>& log;
  int number;
};

TEST(awaitable, a_context_that_ends_destroys_what_waits) {
  std::vector<int> log;
  {
    io_context context;
    const auto inner = [&](int) -> awaitable<void> {
      const noted at_the_end(log, 2);
      weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
      co_await timer.async_wait();
    };
    co_spawn(
        context,
        [&, keep = std::make_unique<noted>(log, 0)]() -> awaitable<void> {
          const noted at_the_end(log, 1);
          co_await inner(0);
        },
        [&](std::exception_ptr) { ADD_FAILURE(); });
    context.poll();
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log, (std::vector<int>{2, 1, 0})) << "as the stack of a function is";
}

TEST(awaitable, a_context_that_ends_destroys_what_has_not_begun) {
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    co_spawn(
        context, [object]() -> awaitable<void> { co_return; },
        [object](std::exception_ptr) { ADD_FAILURE(); });
    EXPECT_EQ(object.use_count(), 3);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(awaitable, an_operation_that_drops_its_handler_at_once_destroys_the_coroutines) {
  io_context context;
  std::vector<int> log;
  const auto drop = [](auto&& token) {
    return weft::async_initiate<decltype(token), void(int)>([](auto) {}, token);
  };
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        const noted at_the_end(log, 1);
        co_await drop(weft::deferred);
        ADD_FAILURE();
      },
      [](std::exception_ptr) { ADD_FAILURE(); });
  context.run();
  EXPECT_EQ(log, std::vector<int>{1});
}

TEST(awaitable, a_chain_a_million_deep_is_destroyed_without_growing_the_stack) {
  io_context context;
  co_spawn(context, deep_wait(1'000'000), detached);
  context.poll_one();
}

TEST(awaitable, a_signal_may_be_owned_by_the_coroutine_that_it_cancels) {
  struct session {
    weft::cancellation_signal signal;
  };
  const auto serve = [](std::shared_ptr<session>) -> awaitable<void> {
    co_await weft::post(co_await this_coro::executor);
  };
  for (const bool destroyed : {false, true}) {
    auto s = std::make_shared<session>();
    const std::weak_ptr<session> seen = s;
    {
      io_context context;
      co_spawn(context, serve(s), weft::bind_cancellation_slot(s->signal.slot(), detached));
      s.reset();
      context.poll_one();
      EXPECT_FALSE(seen.expired());
      if (!destroyed)
        context.run();
    }
    EXPECT_TRUE(seen.expired());
  }
}

TEST(awaitable, the_memory_of_an_operation_may_be_in_the_frame_that_waits_for_it) {
  io_context context;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        std::byte bytes[4096];
        std::pmr::monotonic_buffer_resource memory(bytes, sizeof(bytes));
        weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
        co_await timer.async_wait(weft::bind_allocator(
            std::pmr::polymorphic_allocator<std::byte>(&memory), weft::deferred));
      },
      detached);
  context.poll();
}

// ---- memory

awaitable<int> with_allocator(std::allocator_arg_t, counting_allocator<int>, int n) {
  co_await at_once();
  co_return n;
}

struct holder {
  int value;
  awaitable<int> get(std::allocator_arg_t, counting_allocator<char>, int n) const {
    co_return value + n;
  }
};

TEST(awaitable, a_frame_comes_from_the_allocator_among_the_arguments) {
  weft_test::allocation_counts memory;
  const int sum = run([&]() -> awaitable<int> {
    const holder h{10};
    const int first =
        co_await with_allocator(std::allocator_arg, counting_allocator<int>(memory), 1);
    EXPECT_EQ(memory.allocations, 1u);
    EXPECT_EQ(memory.blocks, 0u);
    const int second = co_await h.get(std::allocator_arg, counting_allocator<char>(memory), 2);
    EXPECT_EQ(memory.allocations, 2u);
    co_return first + second;
  });
  EXPECT_EQ(sum, 13);
  EXPECT_EQ(memory.blocks, 0u);
}

// ---- misuse

TEST(awaitable_death, one_is_awaited_once) {
  expect_assertion(
      [] {
        run([]() -> awaitable<int> {
          auto n = number(1);
          const int first = co_await std::move(n);
          co_return first + co_await std::move(n);
        });
      },
      "a coroutine is awaited once");
}

TEST(awaitable_death, a_coroutine_is_resumed_once_for_each_wait) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_event never(context);
        std::coroutine_handle<> handle;
        co_spawn(
            context,
            [&]() -> awaitable<void> {
              co_await parked{handle};
              try {
                co_await never.async_wait();
              } catch (const weft::system_error&) {}
              co_await weft::post(co_await this_coro::executor);
            },
            detached);
        context.poll();
        handle.resume();
        handle.resume();
      },
      "a coroutine is resumed once for each wait");
}

}  // namespace
