// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/this_fiber.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/writable_pipe.hpp>

#include "support/misuse.hpp"
#include "support/sanitizer.hpp"

namespace {

using weft::cancellation_type;
using weft::detached;
using weft::error_code;
using weft::io_context;
using weft::spawn;
using weft::yield_context;
using namespace std::chrono_literals;
using weft_test::expect_assertion;

/// Runs a function as a fiber, to its end; what leaves it leaves this.
template <class F>
auto run(F f) {
  io_context context;
  auto future = spawn(context, std::move(f), weft::use_future);
  context.run();
  return future.get();
}

/// An operation that completes inside its initiating function.
template <class... Values>
auto at_once(Values... values) {
  return weft::deferred.values(std::move(values)...);
}

/// Marks when it is destroyed.
struct marker {
  explicit marker(bool& destroyed) : flag(&destroyed) {}
  marker(const marker&) = delete;
  ~marker() { *flag = true; }
  bool* flag;
};

TEST(fiber, takes_an_executor_a_context_or_the_yield_context_of_another) {
  io_context context;
  std::vector<int> order;
  spawn(context, [&](yield_context) { order.push_back(1); }, detached);
  spawn(context.get_executor(), [&](yield_context) { order.push_back(2); }, detached);
  spawn(
      weft::any_io_executor(context.get_executor()),
      [&](yield_context yield) {
        order.push_back(3);
        spawn(yield, [&](yield_context) { order.push_back(4); }, detached);
      },
      detached);
  EXPECT_TRUE(order.empty()) << "inside spawn";
  context.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(fiber, serves_every_token_with_what_its_function_returns) {
  io_context context;
  const auto number = [](int n) { return [n](yield_context) { return n; }; };
  auto future = spawn(context, number(1), weft::use_future);
  auto nothing = spawn(context, [](yield_context) {}, weft::use_future);
  int heard = 0, inner = 0, awaited = 0;
  spawn(context, number(2), [&](std::exception_ptr e, int n) {
    EXPECT_FALSE(e);
    heard = n;
  });
  spawn(context, [&](yield_context yield) { inner = spawn(yield, number(3), yield); }, detached);
  co_spawn(
      context,
      [&]() -> weft::awaitable<void> {
        awaited = co_await spawn(co_await weft::this_coro::executor, number(4));
      },
      detached);
  context.run();
  EXPECT_EQ(future.get(), 1);
  nothing.get();
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(inner, 3);
  EXPECT_EQ(awaited, 4);
}

TEST(fiber, has_a_stack_as_large_as_it_asks_for) {
  const auto left = [](auto... size) {
    io_context context;
    std::size_t result = 0;
    spawn(
        context, size..., [&](yield_context) { result = weft::this_fiber::stack_left(); },
        detached);
    context.run();
    return result;
  };
  EXPECT_GT(left(), 56 * 1024u);
  EXPECT_GT(left(weft::stack_size(1024 * 1024)), 1000 * 1024u);
  EXPECT_GT(left(weft::stack_size(20 * 1024 * 1024)), 20 * 1024 * 1000u);
  EXPECT_LT(left(weft::stack_size(1)), 17 * 1024u);
}

/// A stack allocator that counts what it has given.
struct counting_stacks {
  int* live;
  struct stack {
    void* sp;
    std::size_t size;
  };
  stack allocate() {
    constexpr std::size_t size = 128 * 1024;
    ++*live;
    return {static_cast<char*>(::operator new(size)) + size, size};
  }
  void deallocate(stack& s) noexcept {
    --*live;
    ::operator delete(static_cast<char*>(s.sp) - s.size);
  }
};

TEST(fiber, takes_its_stack_from_an_allocator_and_gives_it_back_before_the_handler_is_called) {
  int live = 0;
  bool called = false;
  {
    io_context context;
    spawn(
        context, std::allocator_arg, counting_stacks{&live},
        [&](yield_context yield) {
          EXPECT_EQ(live, 1);
          post(yield);
        },
        [&](std::exception_ptr) {
          EXPECT_EQ(live, 0);
          called = true;
        });
    EXPECT_EQ(live, 1);
    context.run();
    spawn(context, std::allocator_arg, counting_stacks{&live}, [](yield_context) {}, detached);
    EXPECT_EQ(live, 1);
  }
  EXPECT_TRUE(called);
  EXPECT_EQ(live, 0) << "of a fiber that has not begun";
}

TEST(fiber, results_are_nothing_a_value_or_a_tuple) {
  run([](yield_context yield) {
    at_once()(yield);
    EXPECT_EQ(at_once(3)(yield), 3);
    EXPECT_EQ(at_once(3, std::string("x"))(yield), std::make_tuple(3, std::string("x")));
    EXPECT_EQ(at_once(error_code(), 4)(yield), 4);
    const error_code eof = weft::error::eof;
    EXPECT_EQ(at_once(error_code(), eof)(yield), eof);
    EXPECT_EQ(*at_once(std::make_shared<int>(5))(yield), 5);
  });
}

TEST(fiber, an_error_is_thrown_unless_a_token_takes_it) {
  run([](yield_context yield) {
    const error_code eof = weft::error::eof;
    try {
      at_once(eof, 3)(yield);
      ADD_FAILURE() << "not thrown";
    } catch (const weft::system_error& e) {
      EXPECT_EQ(e.code(), eof);
    }
    error_code ec;
    EXPECT_EQ(at_once(eof, 3)(yield[ec]), 3);
    EXPECT_EQ(ec, eof);
    at_once(error_code())(yield[ec]);
    EXPECT_FALSE(ec);
    EXPECT_EQ(at_once(eof, 3)(redirect_error(yield, ec)), 3);
    EXPECT_EQ(ec, eof);
    EXPECT_EQ(at_once(eof, 3)(weft::as_tuple(yield)), std::make_tuple(eof, 3));
    EXPECT_THROW(at_once(std::make_exception_ptr(std::logic_error("no")))(yield), std::logic_error);
  });
}

TEST(fiber, what_leaves_its_function_comes_with_a_value_made_by_default) {
  io_context context;
  bool heard = false;
  spawn(
      context, [](yield_context) -> int { throw std::runtime_error("no"); },
      [&](std::exception_ptr e, int n) {
        EXPECT_THROW(std::rethrow_exception(e), std::runtime_error);
        EXPECT_EQ(n, 0);
        heard = true;
      });
  context.run();
  EXPECT_TRUE(heard);
}

TEST(fiber, what_an_initiating_function_throws_is_thrown_by_the_wait) {
  run([](yield_context yield) {
    const auto fail = [](auto&&) { throw std::runtime_error("no"); };
    EXPECT_THROW((weft::async_initiate<const yield_context&, void()>(fail, yield)),
                 std::runtime_error);
    post(yield);
  });
}

TEST(fiber, waits_on_its_executor_in_turn_with_others) {
  io_context context;
  std::string order;
  const auto writer = [&](char c) {
    return [&order, c](yield_context yield) {
      for (int i = 0; i != 3; ++i) {
        order += c;
        if (i == 0)
          post(yield.get_executor(), yield);
        else if (i == 1)
          weft::this_fiber::yield(yield);
      }
    };
  };
  spawn(context, writer('a'), detached);
  spawn(context, writer('b'), detached);
  context.run();
  EXPECT_EQ(order, "ababab");
}

TEST(fiber, goes_on_in_its_executor_whoever_completes_the_operation) {
  io_context context, other;
  bool checked = false;
  spawn(
      context,
      [&](yield_context yield) {
        const auto here = std::this_thread::get_id();
        post(other, yield);
        EXPECT_EQ(std::this_thread::get_id(), here);
        checked = true;
      },
      detached);
  auto guard = weft::make_work_guard(other);
  std::thread thread([&] { other.run(); });
  context.run();
  guard.reset();
  thread.join();
  EXPECT_TRUE(checked);
}

TEST(fiber, a_strand_keeps_its_fibers_from_running_at_once) {
  weft::thread_pool pool(4);
  const auto strand = make_strand(pool);
  int unguarded = 0;
  for (int i = 0; i != 8; ++i)
    spawn(
        strand,
        [&](auto yield) {
          for (int n = 0; n != 200; ++n) {
            ++unguarded;
            if (n % 2)
              yield.yield();
            else
              post(pool, yield);
          }
        },
        detached);
  pool.join();
  EXPECT_EQ(unguarded, 1600);
}

TEST(fiber, an_operation_that_completes_at_once_does_not_leave_its_stack) {
  run([](yield_context yield) {
    const void* inside = nullptr;
    weft::async_initiate<const yield_context&, void()>(
        [&](auto handler) {
          inside = __builtin_frame_address(0);
          std::move(handler)();
        },
        yield);
    const auto distance = reinterpret_cast<std::intptr_t>(inside) -
                          reinterpret_cast<std::intptr_t>(__builtin_frame_address(0));
    EXPECT_LT(std::abs(distance), 64 * 1024);
    EXPECT_NE(weft::this_fiber::get_id(), nullptr);
  });
}

TEST(fiber, operations_that_complete_at_once_let_others_have_their_turn) {
  io_context context;
  int done = 0, seen = -1;
  spawn(
      context,
      [&](yield_context yield) {
        post(context, [&] { seen = done; });
        for (; done != 100; ++done)
          at_once()(yield);
      },
      detached);
  context.run();
  EXPECT_EQ(done, 100);
  EXPECT_EQ(seen, 32);
}

TEST(fiber, a_handler_that_is_called_before_the_fiber_is_left_resumes_it_all_the_same) {
  io_context context;
  std::vector<std::thread> callers;
  weft::thread_pool others(1);
  int rounds = 0;
  spawn(
      others,
      [&](yield_context yield) {
        for (; rounds != 200; ++rounds)
          weft::async_initiate<const yield_context&, void()>(
              [&](auto handler) {
                std::atomic<bool> called{false};
                callers.emplace_back([&, h = std::move(handler)]() mutable {
                  called = true;
                  std::move(h)();
                });
                while (!called)
                  std::this_thread::yield();
              },
              yield);
      },
      [&](std::exception_ptr) { context.stop(); });
  auto guard = weft::make_work_guard(context);
  context.run();
  others.join();
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(rounds, 200);
}

TEST(fiber, ten_thousand_wait_at_a_time) {
  constexpr int count = WEFT_TEST_TSAN ? 1'000 : 10'000;  // each is a thread to ThreadSanitizer
  io_context context;
  int begun = 0, ended = 0;
  weft::steady_timer gate(context, weft::steady_timer::time_point::max());
  for (int i = 0; i != count; ++i)
    spawn(
        context, weft::stack_size(16 * 1024),
        [&](yield_context yield) {
          if (++begun == count)
            gate.cancel();
          error_code ec;
          if (begun != count)
            gate.async_wait(yield[ec]);
          ++ended;
        },
        detached);
  context.run();
  EXPECT_EQ(ended, count);
}

TEST(fiber, moves_between_threads) {
  weft::thread_pool pool(4);
  std::atomic<int> sum{0};
  for (int i = 0; i != 64; ++i)
    spawn(
        pool,
        [&, i](yield_context yield) {
          int own = 0;
          for (int n = 0; n != 500; ++n) {
            ++own;
            switch ((n + i) % 3) {
              case 0: yield.yield(); break;
              case 1: post(pool, weft::bind_executor(pool.get_executor(), yield)); break;
              default: at_once()(yield);
            }
          }
          sum += own;
        },
        detached);
  pool.join();
  EXPECT_EQ(sum, 64 * 500);
}

// ---- cancellation

TEST(fiber, a_slot_cancels_what_is_waited_for_and_the_next_wait_throws) {
  io_context context;
  weft::cancellation_signal signal;
  weft::steady_timer never(context, weft::steady_timer::time_point::max());
  bool ended = false;
  spawn(
      context,
      [&](yield_context yield) {
        error_code ec;
        never.async_wait(yield[ec]);
        EXPECT_EQ(ec, weft::error::operation_aborted);
        EXPECT_EQ(yield.cancelled(), cancellation_type::terminal);
        EXPECT_TRUE(yield.throw_if_cancelled());
        EXPECT_THROW(at_once()(yield), weft::system_error);
        EXPECT_THROW(yield.yield(), weft::system_error);
        yield.throw_if_cancelled(false);
        at_once()(yield);
        yield.reset_cancellation_state();
        EXPECT_EQ(yield.cancelled(), cancellation_type::none);
        yield.throw_if_cancelled(true);
        post(yield);
        ended = true;
      },
      bind_cancellation_slot(signal.slot(), detached));
  context.poll();
  EXPECT_FALSE(ended);
  signal.emit(cancellation_type::terminal);
  context.run();
  EXPECT_TRUE(ended);
}

TEST(fiber, only_what_the_filter_lets_pass_cancels) {
  io_context context;
  weft::cancellation_signal signal;
  weft::steady_timer timer(context, weft::steady_timer::time_point::max());
  bool ended = false;
  spawn(
      context,
      [&](yield_context yield) {
        yield.reset_cancellation_state(weft::enable_total_cancellation());
        error_code ec;
        timer.async_wait(yield[ec]);
        EXPECT_EQ(ec, weft::error::operation_aborted);
        EXPECT_EQ(yield.cancellation_state().cancelled(), cancellation_type::total);
        ended = true;
      },
      bind_cancellation_slot(signal.slot(), detached));
  context.poll();
  signal.emit(cancellation_type::total);
  context.run();
  EXPECT_TRUE(ended);
}

TEST(fiber, one_that_is_cancelled_before_it_begins_throws_at_its_first_wait) {
  io_context context;
  weft::cancellation_signal signal;
  std::exception_ptr error;
  spawn(
      context, [](yield_context yield) { post(yield); },
      bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  signal.emit(cancellation_type::all);
  context.run();
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
}

TEST(fiber, may_be_cancelled_from_any_thread_at_any_time) {
  for (int i = 0; i != 100; ++i) {
    io_context context;
    weft::cancellation_signal signal;
    weft::steady_timer never(context, weft::steady_timer::time_point::max());
    int ended = 0;
    spawn(
        context,
        [&](yield_context yield) {
          for (int n = 0; n != i; ++n)
            post(yield);
          never.async_wait(yield);
        },
        bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
          EXPECT_THROW(std::rethrow_exception(e), weft::system_error);
          ++ended;
        }));
    std::thread other([&] { signal.emit(cancellation_type::terminal); });
    context.run();
    other.join();
    EXPECT_EQ(ended, 1);
  }
}

TEST(fiber, an_emission_after_the_end_finds_nothing) {
  io_context context;
  weft::cancellation_signal signal;
  spawn(
      context, [](yield_context yield) { post(yield); },
      bind_cancellation_slot(signal.slot(), detached));
  context.run();
  EXPECT_FALSE(signal.slot().has_handler());
  signal.emit(cancellation_type::all);
}

// ---- the end of a context

/// Spawns a fiber that waits by `wait(yield)`, destroys the context, and tells whether it was
/// unwound.
template <class Wait>
bool unwinds(Wait wait) {
  bool local = false, captured = false, handler = false;
  {
    io_context context;
    spawn(
        context,
        [&, m = std::make_unique<marker>(captured)](yield_context yield) {
          const marker here(local);
          wait(context, yield);
          ADD_FAILURE() << "it went on";
        },
        [m = std::make_unique<marker>(handler)](std::exception_ptr) { ADD_FAILURE(); });
    context.poll();
    EXPECT_FALSE(local || captured || handler);
  }
  return local && captured && handler;
}

TEST(fiber, a_context_that_ends_unwinds_what_waits) {
  EXPECT_TRUE(unwinds([](io_context& context, yield_context yield) {
    weft::steady_timer never(context, weft::steady_timer::time_point::max());
    never.async_wait(yield);
  }));
  EXPECT_TRUE(unwinds([](io_context& context, yield_context yield) {
    weft::readable_pipe reader(context);
    weft::writable_pipe writer(context);
    connect_pipe(reader, writer);
    char data[1];
    async_read(reader, weft::buffer(data), yield);
  }));
  EXPECT_TRUE(unwinds([](io_context&, yield_context yield) {
    spawn(
        yield,
        [](yield_context inner) {
          weft::steady_timer never(inner.get_executor(), weft::steady_timer::time_point::max());
          never.async_wait(inner);
        },
        yield);
  }));
}

TEST(fiber, a_context_that_ends_unwinds_what_is_queued) {
  bool local = false;
  {
    io_context context;
    spawn(
        context,
        [&](yield_context yield) {
          const marker here(local);
          context.stop();
          yield.yield();
        },
        detached);
    context.run();
    EXPECT_FALSE(local);
  }
  EXPECT_TRUE(local);
}

TEST(fiber, a_context_that_ends_destroys_what_has_not_begun) {
  bool captured = false, handler = false;
  {
    io_context context;
    spawn(
        context, [m = std::make_unique<marker>(captured)](yield_context) { ADD_FAILURE(); },
        [m = std::make_unique<marker>(handler)](std::exception_ptr) { ADD_FAILURE(); });
  }
  EXPECT_TRUE(captured);
  EXPECT_TRUE(handler);
}

TEST(fiber, an_operation_that_drops_its_handler_unwinds_it) {
  io_context context;
  bool local = false;
  spawn(
      context,
      [&](yield_context yield) {
        const marker here(local);
        weft::async_initiate<const yield_context&, void()>([](auto) {}, yield);
        ADD_FAILURE() << "it went on";
      },
      [](std::exception_ptr) { ADD_FAILURE() << "called"; });
  context.run();
  EXPECT_TRUE(local);
}

TEST(fiber, a_signal_may_be_owned_by_the_fiber_that_it_cancels) {
  std::weak_ptr<weft::cancellation_signal> watch;
  io_context context;
  {
    const auto signal = std::make_shared<weft::cancellation_signal>();
    watch = signal;
    spawn(
        context, [signal](yield_context yield) { post(yield); },
        bind_cancellation_slot(signal->slot(), [signal](std::exception_ptr) {}));
  }
  context.run();
  EXPECT_TRUE(watch.expired());
}

// ---- executors that are not native

/// Refuses as long as it is told to; otherwise it queues with its context.
struct moody_executor {
  io_context* context;
  int* refusals;
  io_context& query(weft::execution::context_t) const noexcept { return *context; }
  template <class F>
  void execute(F f) const {
    if (*refusals != 0 && (*refusals)-- != 0)
      throw std::runtime_error("refused");
    context->get_executor().execute(std::move(f));
  }
  moody_executor require(weft::execution::blocking_t::never_t) const noexcept { return *this; }
  bool operator==(const moody_executor&) const noexcept = default;
};

TEST(fiber, an_executor_that_refuses_a_fiber_makes_spawn_throw) {
  io_context context;
  int refusals = 1;
  bool captured = false;
  EXPECT_THROW(spawn(
                   moody_executor{&context, &refusals},
                   [m = std::make_unique<marker>(captured)](auto) { ADD_FAILURE(); }, detached),
               std::runtime_error);
  EXPECT_TRUE(captured);
}

TEST(fiber, one_whose_executor_refuses_it_goes_on) {
  io_context context;
  int refusals = 0, ended = 0;
  spawn(
      moody_executor{&context, &refusals},
      [&](auto yield) {
        refusals = 1;
        yield.yield();
        yield.yield();
      },
      [&](std::exception_ptr) { ++ended; });
  context.run();
  EXPECT_EQ(ended, 1);
}

/// A handler that throws when it is moved for the call.
class moves_with_pain {
 public:
  explicit moves_with_pain(const bool& hurts) noexcept : hurts_(&hurts) {}
  moves_with_pain(moves_with_pain&& other) : hurts_(other.hurts_) {
    if (*hurts_)
      throw std::runtime_error("moved");
  }
  void operator()(std::exception_ptr) const { FAIL() << "called"; }

 private:
  const bool* hurts_;
};

TEST(spawn, what_moving_the_handler_throws_leaves_run_and_the_fiber_is_gone) {
  weft::io_context context;
  bool hurts = false;
  weft::spawn(context, [&](weft::yield_context) { hurts = true; }, moves_with_pain(hurts));
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_EQ(context.run(), 0u);
}

// ---- misuse

// ThreadSanitizer's fibers do not survive the fork of a death test.
#if !WEFT_TEST_TSAN

TEST(fiber_death, one_waits_by_a_yield_context_of_its_own) {
  // Calls `f` with the yield_context of a fiber that waits.
  const auto with_another = [](auto f) {
    io_context context;
    weft::steady_timer never(context, weft::steady_timer::time_point::max());
    spawn(
        context,
        [&](yield_context another) {
          post(context, [&, another] { f(context, another); });
          never.async_wait(another);
        },
        detached);
    context.run();
  };
  constexpr auto own = "a fiber waits by a yield_context of its own";
  expect_assertion([&] { with_another([](io_context&, yield_context another) { post(another); }); },
                   own);
  expect_assertion(
      [&] {
        with_another([](io_context& context, yield_context another) {
          spawn(context, [another](yield_context) { another.yield(); }, detached);
        });
      },
      own);
}

#endif

}  // namespace
