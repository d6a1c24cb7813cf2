// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/system_context.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/high_resolution_timer.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/system_timer.hpp>
#include <weft/io/writable_pipe.hpp>

#include "support/backend.hpp"
#include "support/manual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using weft_test::manual_clock;
using weft_test::manual_timer;

const weft::error_code success;
const weft::error_code aborted = weft::error::operation_aborted;

/// An executor of the user's own that keeps functions until they are asked for.
class hand_executor {
 public:
  struct queue {
    explicit queue(weft::execution_context& c) : context(c) {}
    weft::execution_context& context;
    std::deque<std::function<void()>> functions;

    void run() {
      while (!functions.empty()) {
        auto f = std::move(functions.front());
        functions.pop_front();
        f();
      }
    }
  };

  explicit hand_executor(queue& q) : queue_(&q) {}
  weft::execution_context& query(weft::execution::context_t) const noexcept {
    return queue_->context;
  }
  static constexpr auto query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class F>
  void execute(F f) const {
    auto shared = std::make_shared<F>(std::move(f));
    queue_->functions.push_back([shared] { std::move (*shared)(); });
  }
  bool operator==(const hand_executor&) const noexcept = default;

 private:
  queue* queue_;
};

/// A handler with an associated executor.
template <class Executor, class Function>
struct bound {
  using executor_type = Executor;
  Executor get_executor() const noexcept { return executor; }
  void operator()(weft::error_code ec) { function(ec); }
  Executor executor;
  Function function;
};
template <class Executor, class Function>
bound(Executor, Function) -> bound<Executor, Function>;

/// A handler with a cancellation slot.
template <class Function>
struct cancellable {
  using cancellation_slot_type = weft::cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
  void operator()(weft::error_code ec) { function(ec); }
  weft::cancellation_slot slot;
  Function function;
};
template <class Function>
cancellable(weft::cancellation_slot, Function) -> cancellable<Function>;

class timer_test : public weft_test::backend_test {
 protected:
  timer_test() { manual_clock::set(0s); }

  auto note() {
    return [this](weft::error_code ec) { results.push_back(ec); };
  }
  void poll() {
    context.restart();
    context.poll();
  }

  using errors = std::vector<weft::error_code>;
  errors results;
};

TEST_P(timer_test, without_an_expiry_it_has_expired) {
  weft::steady_timer timer(context);
  EXPECT_EQ(timer.expiry(), weft::steady_timer::time_point());
  timer.async_wait(note());
  EXPECT_TRUE(results.empty());  // never inside the initiating function
  context.run();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, it_runs_on_every_standard_clock) {
  weft::steady_timer steady(context, 1ns);
  weft::system_timer system(context.get_executor(), std::chrono::system_clock::now());
  weft::high_resolution_timer high(context.get_executor(), 1us);
  steady.async_wait(note());
  system.async_wait(note());
  high.async_wait(note());
  context.run();
  EXPECT_EQ(results, (errors{success, success, success}));
  EXPECT_LE(steady.expiry(), std::chrono::steady_clock::now());
}

TEST_P(timer_test, a_wait_does_not_complete_before_its_expiry) {
  manual_timer timer(context, 10ns);
  EXPECT_EQ(timer.expiry(), manual_clock::time_point(10ns));
  timer.async_wait(note());
  manual_clock::advance(9ns);
  poll();
  EXPECT_TRUE(results.empty());
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, waits_on_one_timer_complete_in_the_order_of_their_start) {
  manual_timer timer(context, 1ns);
  std::vector<int> order;
  for (int i = 0; i != 5; ++i)
    timer.async_wait([&order, i](weft::error_code) { order.push_back(i); });
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_P(timer_test, timers_complete_in_the_order_of_their_expiry) {
  std::vector<int> order;
  std::vector<manual_timer> timers;
  for (const int expiry : {5, 3, 9, 1, 7}) {
    timers.emplace_back(context, std::chrono::nanoseconds(expiry));
    timers.back().async_wait([&order, expiry](weft::error_code) { order.push_back(expiry); });
  }
  manual_clock::advance(8ns);
  poll();
  EXPECT_EQ(order, (std::vector<int>{1, 3, 5, 7}));
}

TEST_P(timer_test, cancel_reports_operation_aborted_and_counts) {
  manual_timer timer(context, 1h);
  timer.async_wait(note());
  timer.async_wait(note());
  EXPECT_EQ(timer.cancel(), 2u);
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_TRUE(results.empty());
  context.run();
  EXPECT_EQ(results, (errors{aborted, aborted}));
  EXPECT_EQ(timer.expiry(), manual_clock::time_point(1h));
}

TEST_P(timer_test, cancel_one_takes_the_wait_that_was_started_first) {
  manual_timer timer(context, 1ns);
  std::vector<int> cancelled;
  for (int i = 0; i != 3; ++i)
    timer.async_wait([&cancelled, i](weft::error_code ec) {
      if (ec)
        cancelled.push_back(i);
    });
  EXPECT_EQ(timer.cancel_one(), 1u);
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(cancelled, std::vector<int>{0});
  EXPECT_EQ(timer.cancel_one(), 0u);
}

TEST_P(timer_test, cancel_after_expiry_is_queued_reports_operation_aborted) {
  manual_timer first(context, 1ns), second(context, 2ns);
  std::size_t cancelled = 99;
  first.async_wait([&](weft::error_code) { cancelled = second.cancel(); });
  second.async_wait(note());
  manual_clock::advance(2ns);  // both expiries are queued by the same look at the clock
  poll();
  EXPECT_EQ(cancelled, 1u);
  EXPECT_EQ(results, errors{aborted});
}

TEST_P(timer_test, cancel_after_expiry_reached_the_users_executor_reports_operation_aborted) {
  hand_executor::queue queue(context);
  manual_timer timer(context, 1ns);
  timer.async_wait(bound{hand_executor(queue), note()});
  timer.async_wait(bound{hand_executor(queue), note()});
  manual_clock::advance(1ns);
  poll();
  ASSERT_EQ(queue.functions.size(), 2u);
  EXPECT_EQ(timer.cancel_one(), 1u);
  EXPECT_EQ(timer.expires_after(1h), 1u);
  EXPECT_EQ(timer.cancel(), 0u);
  queue.run();
  EXPECT_EQ(results, (errors{aborted, aborted}));
}

TEST_P(timer_test, a_wait_whose_handler_has_begun_is_not_counted_as_cancelled) {
  manual_timer timer(context);
  std::size_t cancelled = 99;
  timer.async_wait([&](weft::error_code ec) {
    results.push_back(ec);
    cancelled = timer.cancel();
  });
  context.run();
  EXPECT_EQ(results, errors{success});
  EXPECT_EQ(cancelled, 0u);
}

TEST_P(timer_test, expires_after_cancels_and_a_new_wait_uses_the_new_expiry) {
  manual_timer timer(context, 1ns);
  timer.async_wait(note());
  EXPECT_EQ(timer.expires_after(5ns), 1u);
  timer.async_wait(note());
  manual_clock::advance(4ns);
  poll();
  EXPECT_EQ(results, errors{aborted});
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(results, (errors{aborted, success}));
  EXPECT_EQ(timer.expires_at(manual_clock::time_point(9ns)), 0u);
  EXPECT_EQ(timer.expiry(), manual_clock::time_point(9ns));
}

TEST_P(timer_test, the_last_time_point_is_never_reached_and_the_first_has_passed) {
  manual_timer last(context, manual_clock::time_point::max());
  manual_timer first(context, manual_clock::time_point::min());
  manual_timer overflow(context);
  manual_clock::advance(1s);
  overflow.expires_after(manual_clock::duration::max());
  EXPECT_EQ(overflow.expiry(), manual_clock::time_point::max());
  last.async_wait(note());
  overflow.async_wait(note());
  first.async_wait(note());
  poll();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, a_slot_cancels_its_wait_alone) {
  for (const auto type : {weft::cancellation_type::terminal, weft::cancellation_type::partial,
                          weft::cancellation_type::total}) {
    manual_timer timer(context, 1h);
    weft::cancellation_signal signal;
    timer.async_wait(cancellable{signal.slot(), note()});
    timer.async_wait([](weft::error_code) {});
    signal.emit(weft::cancellation_type::none);
    poll();
    EXPECT_TRUE(results.empty());
    signal.emit(type);
    poll();
    EXPECT_EQ(std::exchange(results, {}), errors{aborted});
    EXPECT_FALSE(signal.slot().has_handler());
    EXPECT_EQ(timer.cancel(), 1u);
    poll();
  }
}

TEST_P(timer_test, a_slot_cancels_a_wait_whose_expiry_is_queued) {
  manual_timer timer(context);
  weft::cancellation_signal signal;
  timer.async_wait([&](weft::error_code) { signal.emit(weft::cancellation_type::total); });
  timer.async_wait(cancellable{signal.slot(), note()});
  poll();
  EXPECT_EQ(results, errors{aborted});
}

TEST_P(timer_test, a_moved_timer_takes_its_waits_along) {
  manual_timer source(context, 5ns);
  source.async_wait(note());
  manual_timer target(std::move(source));
  EXPECT_EQ(source.cancel(), 0u);
  EXPECT_EQ(source.expiry(), manual_clock::time_point());
  EXPECT_EQ(target.expiry(), manual_clock::time_point(5ns));
  EXPECT_EQ(target.cancel(), 1u);
  source.async_wait(note());
  poll();
  EXPECT_EQ(results, (errors{aborted, success}));
}

TEST_P(timer_test, an_assigned_timer_cancels_its_own_waits) {
  manual_timer source(context, 5ns), target(context, 5ns);
  target.async_wait(note());
  source.async_wait([](weft::error_code ec) { EXPECT_FALSE(ec); });
  target = std::move(source);
  poll();
  EXPECT_EQ(results, errors{aborted});
  manual_clock::advance(5ns);
  poll();
}

TEST_P(timer_test, a_timer_of_another_executor_type_can_be_moved_from) {
  using native_timer = manual_timer::rebind_executor<weft::io_context::executor_type>::other;
  native_timer source(context, 5ns);
  source.async_wait(note());
  manual_timer target(std::move(source));
  manual_timer assigned(context);
  assigned = native_timer(context, 7ns);
  EXPECT_EQ(assigned.expiry(), manual_clock::time_point(7ns));
  EXPECT_EQ(target.cancel(), 1u);
  poll();
  EXPECT_EQ(results, errors{aborted});
}

TEST_P(timer_test, destroying_a_timer_cancels_its_waits) {
  std::optional<manual_timer> timer(std::in_place, context, 5ns);
  timer->async_wait(note());
  timer.reset();
  poll();
  EXPECT_EQ(results, errors{aborted});
}

TEST_P(timer_test, a_handler_may_destroy_its_timer_and_wait_again) {
  auto timer = std::make_unique<manual_timer>(context);
  manual_timer* raw = timer.get();
  raw->async_wait([&, timer = std::move(timer)](weft::error_code ec) mutable {
    results.push_back(ec);
    timer->async_wait(note());
    timer.reset();
  });
  context.run();
  EXPECT_EQ(results, (errors{success, aborted}));
}

TEST_P(timer_test, an_exception_of_a_handler_leaves_run_and_loses_no_other_wait) {
  manual_timer timer(context);
  timer.async_wait([](weft::error_code) { throw std::runtime_error("from a handler"); });
  timer.async_wait(note());
  EXPECT_THROW(context.run(), std::runtime_error);
  context.run();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, a_handler_need_only_be_movable) {
  manual_timer timer(context);
  timer.async_wait([this, token = std::make_unique<int>(7)](weft::error_code ec) {
    EXPECT_EQ(*token, 7);
    results.push_back(ec);
  });
  context.run();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, a_wait_without_a_token_is_deferred) {
  manual_timer timer(context);
  auto wait = timer.async_wait();
  std::move(wait)(note());
  context.run();
  EXPECT_EQ(results, errors{success});
}

TEST_P(timer_test, a_blocking_wait_lasts_until_the_expiry) {
  struct advancing_traits {
    static manual_clock::duration to_wait_duration(const manual_clock::duration& d) { return d; }
    static manual_clock::duration to_wait_duration(const manual_clock::time_point&) {
      manual_clock::advance(1ns);
      return 0ns;
    }
  };
  weft::basic_waitable_timer<manual_clock, advancing_traits> timer(context, 10ns);
  timer.wait();
  EXPECT_EQ(manual_clock::now(), timer.expiry());
  weft::error_code ec = aborted;
  timer.wait(ec);
  EXPECT_FALSE(ec);
}

TEST_P(timer_test, the_names_of_earlier_versions_still_work) {
  manual_timer timer(context);
  weft::error_code ec = aborted;
  EXPECT_EQ(timer.expires_from_now(5ns), 0u);
  EXPECT_EQ(timer.expires_at(), manual_clock::time_point(5ns));
  timer.async_wait(note());
  EXPECT_EQ(timer.expires_at(manual_clock::time_point(7ns), ec), 1u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(timer.expires_from_now(9ns, ec), 0u);
  EXPECT_EQ(timer.cancel(ec), 0u);
  EXPECT_EQ(timer.cancel_one(ec), 0u);
  poll();
}

/// A handler that says which executor completes an operation that was finished at its start.
struct immediate_handler {
  struct executor {
    weft::execution_context* context;
    weft::execution_context& query(weft::execution::context_t) const noexcept { return *context; }
    template <class F>
    void execute(F f) const {
      f();
    }
    bool operator==(const executor&) const noexcept = default;
  };
  using immediate_executor_type = executor;
  executor get_immediate_executor() const noexcept { return {context}; }
  void operator()(weft::error_code ec) const { results->push_back(ec); }
  weft::execution_context* context;
  std::vector<weft::error_code>* results;
};

TEST_P(timer_test, an_expired_timer_completes_at_once_where_an_immediate_executor_asks_for_it) {
  manual_timer timer(context, 5ns);
  timer.async_wait(immediate_handler{&context, &results});
  EXPECT_TRUE(results.empty());
  manual_clock::advance(5ns);
  timer.async_wait(immediate_handler{&context, &results});
  EXPECT_EQ(results, errors{success});
  poll();
  EXPECT_EQ(results, (errors{success, success}));
}

/// Counts blocks; the n-th allocation fails.
struct account {
  int live = 0;
  int until_failure = std::numeric_limits<int>::max();
};
template <class T>
struct counting_allocator {
  using value_type = T;
  explicit counting_allocator(account& a) noexcept : to(&a) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) noexcept : to(other.to) {}
  T* allocate(std::size_t n) {
    if (to->until_failure-- == 0)
      throw std::bad_alloc();
    ++to->live;
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t) noexcept {
    --to->live;
    ::operator delete(p);
  }
  friend bool operator==(const counting_allocator& a, const counting_allocator& b) noexcept {
    return a.to == b.to;
  }
  account* to;
};
struct allocating_handler {
  using allocator_type = counting_allocator<void*>;
  allocator_type get_allocator() const noexcept { return allocator_type(*memory); }
  void operator()(weft::error_code) const { *live_inside = memory->live; }
  account* memory;
  int* live_inside;
};

TEST_P(timer_test, the_memory_of_a_wait_is_the_handlers_and_is_returned_before_it_is_called) {
  account memory;
  int live_inside = 99;
  manual_timer timer(context);
  timer.async_wait(allocating_handler{&memory, &live_inside});
  EXPECT_EQ(memory.live, 1);
  context.run();
  EXPECT_EQ(live_inside, 0);
  EXPECT_EQ(memory.live, 0);
}

TEST_P(timer_test, a_failed_allocation_leaves_async_wait_and_starts_nothing) {
  account memory{0, 0};
  int live_inside = 99;
  manual_timer timer(context, 1h);
  EXPECT_THROW(timer.async_wait(allocating_handler{&memory, &live_inside}), std::bad_alloc);
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_EQ(context.run(), 0u);
}

TEST_P(timer_test, a_hundred_thousand_waits_complete_in_order) {
  constexpr int count = 100'000;
  std::vector<manual_timer> timers;
  timers.reserve(count);
  manual_clock::duration last{};
  int completed = 0;
  for (int i = 0; i != count; ++i) {
    const auto expiry = std::chrono::nanoseconds(1 + i * 7919LL % count);
    timers.emplace_back(context, expiry);
    timers.back().async_wait([&, expiry](weft::error_code ec) {
      EXPECT_EQ(static_cast<bool>(ec), expiry.count() % 2 == 0);
      if (!ec) {
        EXPECT_LE(last, expiry);
        last = expiry;
      }
      ++completed;
    });
  }
  for (manual_timer& timer : timers)
    if (timer.expiry().time_since_epoch().count() % 2 == 0)
      timer.cancel();
  manual_clock::advance(std::chrono::nanoseconds(count));
  context.run();
  EXPECT_EQ(completed, count);
}

/// Many timers that are due together, at a time so far off that they must be put in order then.
class timer_crowd_test : public timer_test {
 protected:
  template <class Handler>
  void make_due(int count, Handler handler) {
    timers.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i != count; ++i) {
      timers.emplace_back(context, 1h + std::chrono::nanoseconds(i));
      timers.back().async_wait(handler);
    }
    manual_clock::advance(2h);
  }

  std::vector<manual_timer> timers;
};

TEST_P(timer_crowd_test, what_the_first_of_many_that_expire_together_posts_goes_before_most) {
  constexpr int count = 100'000;
  int completed = 0, completed_before_post = 0;
  make_due(count, [&](weft::error_code) {
    if (++completed == 1)
      weft::post(context, [&] { completed_before_post = completed; });
  });
  context.run();
  EXPECT_EQ(completed, count);
  EXPECT_LE(completed_before_post, 2 * 64);
}

TEST_P(timer_crowd_test, input_is_read_while_many_expire_together) {
  constexpr int count = 100'000;
  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  weft::connect_pipe(in, out);
  char read = 0;
  int completed = 0, completed_before_read = 0;
  in.async_read_some(weft::buffer(&read, 1), [&](weft::error_code ec, std::size_t) {
    EXPECT_FALSE(ec);
    completed_before_read = completed;
  });
  context.poll();
  context.restart();
  make_due(count, [&](weft::error_code) {
    if (++completed == 1)
      out.write_some(weft::buffer("x", 1));
  });
  context.run();
  EXPECT_EQ(completed, count);
  EXPECT_LT(completed_before_read, count / 2);
}

TEST_P(timer_crowd_test, poll_runs_all_that_are_due_and_counts_them) {
  constexpr int count = 10'000;
  int completed = 0;
  make_due(count, [&](weft::error_code) { ++completed; });
  EXPECT_EQ(context.poll_one(), 1u);
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(context.poll(), count - 1u);
  EXPECT_EQ(completed, count);
}

TEST_P(timer_crowd_test, cancel_reaches_those_whose_turn_has_not_come) {
  constexpr int count = 1'000;
  int succeeded = 0, cancelled = 0;
  make_due(count, [&](weft::error_code ec) {
    ++(ec ? cancelled : succeeded);
    if (succeeded == 1 && cancelled == 0)
      for (manual_timer& timer : timers)
        timer.cancel();
  });
  context.run();
  EXPECT_EQ(succeeded, 1);
  EXPECT_EQ(cancelled, count - 1);
}

TEST_P(timer_crowd_test, one_that_ends_with_many_due_destroys_their_handlers) {
  auto handlers = std::make_shared<int>();
  make_due(1'000, [handlers](weft::error_code) {});
  EXPECT_EQ(context.poll_one(), 1u);
  context.stop();
  EXPECT_EQ(handlers.use_count(), 1'000);
}

TEST_P(timer_crowd_test, an_exception_of_the_last_of_a_batch_loses_none) {
  int completed = 0, thrown = 0;
  make_due(1'000, [&](weft::error_code) {
    if (++completed % 16 == 0)
      throw std::runtime_error("thrown by a handler");
  });
  for (bool done = false; !done;) {
    try {
      context.run();
      done = true;
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  EXPECT_EQ(completed, 1'000);
  EXPECT_EQ(thrown, 1'000 / 16);
}

WEFT_INSTANTIATE_BACKENDS(timer_test);
WEFT_INSTANTIATE_BACKENDS(timer_crowd_test);

// ---- what happens at the end of a context

class timer_end_test : public ::testing::TestWithParam<weft::backend_kind> {
 protected:
  std::unique_ptr<weft::io_context> context =
      std::make_unique<weft::io_context>(weft_test::make_context_options(GetParam()));
};

TEST_P(timer_end_test, handlers_that_own_their_timers_are_destroyed_uncalled) {
  const auto alive = std::make_shared<int>(0);
  for (int i = 0; i != 3; ++i) {
    auto timer = std::make_shared<weft::steady_timer>(*context, i * 1h);
    timer->async_wait([alive, timer](weft::error_code) { FAIL() << "called"; });
    timer->async_wait([alive, timer](weft::error_code) { FAIL() << "called"; });
  }
  EXPECT_EQ(alive.use_count(), 7);
  context.reset();
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_P(timer_end_test, a_timer_may_outlive_its_context) {
  manual_timer timer(*context, 1h);
  timer.async_wait([](weft::error_code) { FAIL() << "called"; });
  context.reset();
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_EQ(timer.expires_after(2h), 0u);
}

TEST_P(timer_end_test, a_wait_that_reached_another_executor_completes_after_its_context_is_gone) {
  weft::io_context other;
  hand_executor::queue queue(other);
  std::vector<weft::error_code> results;
  {
    auto timer = std::make_unique<manual_timer>(*context, manual_clock::time_point::min());
    timer->async_wait(
        bound{hand_executor(queue), [&](weft::error_code ec) { results.push_back(ec); }});
    context->run();
  }
  context.reset();
  queue.run();
  EXPECT_EQ(results, std::vector<weft::error_code>{aborted});  // its timer was destroyed
}

TEST_P(timer_end_test, a_wait_that_another_executor_destroys_leaves_its_timer) {
  manual_timer timer(*context, manual_clock::time_point::min());
  {
    hand_executor::queue queue(*context);
    timer.async_wait(bound{hand_executor(queue), [](weft::error_code) { FAIL() << "called"; }});
    context->run();
  }
  EXPECT_EQ(timer.cancel(), 0u);
}

WEFT_INSTANTIATE_BACKENDS(timer_end_test);

TEST(timer, waits_on_a_system_executor_that_nobody_has_used) {
  weft::basic_waitable_timer<std::chrono::steady_clock,
                             weft::wait_traits<std::chrono::steady_clock>, weft::system_executor>
      timer{weft::system_executor()};
  timer.expires_after(std::chrono::milliseconds(1));
  EXPECT_EQ(timer.async_wait(weft::use_future).wait_for(std::chrono::seconds(60)),
            std::future_status::ready);
}

}  // namespace
