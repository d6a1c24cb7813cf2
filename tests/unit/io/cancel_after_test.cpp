// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/cancel_at.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/backend.hpp"
#include "support/manual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using weft::cancel_after;
using weft::cancel_at;
using weft::cancellation_type;
using weft_test::manual_clock;
using weft_test::manual_timer;

const weft::error_code success;
const weft::error_code aborted = weft::error::operation_aborted;

// A timeout accepts the signatures that its target accepts.
struct on_wait {
  void operator()(weft::error_code) {}
};
template <class Token>
constexpr bool tells_apart = weft::completion_token_for<Token, void(weft::error_code)> &&
                             weft::completion_token_for<const Token&, void(weft::error_code)> &&
                             !weft::completion_token_for<Token, void(weft::error_code, int)> &&
                             !weft::completion_token_for<const Token&, void(int, int)>;
static_assert(tells_apart<decltype(cancel_after(1s, on_wait()))>);
static_assert(tells_apart<decltype(cancel_after(std::declval<manual_timer&>(), 1s, on_wait()))>);
static_assert(tells_apart<decltype(cancel_at(manual_clock::time_point(), on_wait()))>);
static_assert(tells_apart<decltype(cancel_at(std::declval<manual_timer&>(),
                                             manual_clock::time_point(), on_wait()))>);
static_assert(tells_apart<decltype(cancel_after(1s, weft::bind_executor(weft::system_executor(),
                                                                        on_wait())))>);
static_assert(weft::completion_token_for<decltype(cancel_after(1s)), void(int, int)>);

/// An operation that lasts until the test ends it, and notes the requests it gets.
class held_operation {
 public:
  explicit held_operation(weft::io_context& c) : context_(c) {}

  template <class Token>
  auto start(Token&& token) {
    return weft::async_initiate<Token, void(weft::error_code, int)>(initiate{this}, token);
  }

  void complete(weft::error_code ec, int value) {
    weft::post(context_, [c = std::move(completion_), ec, value]() mutable { (*c)(ec, value); });
  }
  bool is_started() const { return completion_ != nullptr; }
  void drop() { completion_.reset(); }

  std::vector<cancellation_type> requests;

 private:
  struct handler_base {
    virtual ~handler_base() = default;
    virtual void operator()(weft::error_code, int) = 0;
  };
  template <class Handler>
  struct held_handler final : handler_base {
    explicit held_handler(Handler&& h) : handler(std::move(h)) {}
    ~held_handler() override { weft::get_associated_cancellation_slot(handler).clear(); }
    void operator()(weft::error_code ec, int value) override {
      weft::get_associated_cancellation_slot(handler).clear();
      std::move(handler)(ec, value);
    }
    Handler handler;
  };

  struct initiate {
    using executor_type = weft::io_context::executor_type;
    executor_type get_executor() const noexcept { return self->context_.get_executor(); }
    template <class Handler>
    void operator()(Handler handler) const {
      auto slot = weft::get_associated_cancellation_slot(handler);
      self->completion_ = std::make_unique<held_handler<Handler>>(std::move(handler));
      if (slot.is_connected())
        slot.assign([s = self](cancellation_type type) { s->requests.push_back(type); });
    }
    held_operation* self;
  };

  weft::io_context& context_;
  std::unique_ptr<handler_base> completion_;
};

class cancel_after_test : public weft_test::backend_test {
 protected:
  cancel_after_test() { manual_clock::set(0s); }

  auto note() {
    return [this](weft::error_code ec, int value) { results.emplace_back(ec, value); };
  }
  void poll() {
    context.restart();
    context.poll();
  }

  /// A timeout of two nanoseconds of the manual clock.
  template <class Token>
  auto in_two_ns(Token token, cancellation_type type = cancellation_type::terminal) {
    return weft::cancel_after_t<Token, manual_clock, weft_test::manual_wait_traits>(
        std::move(token), 2ns, type);
  }

  using requests = std::vector<cancellation_type>;
  std::vector<std::pair<weft::error_code, int>> results;
  held_operation operation{context};
};

TEST_P(cancel_after_test, an_operation_that_is_late_is_cancelled_and_completes_with_its_results) {
  operation.start(in_two_ns(note(), cancellation_type::partial));
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(operation.requests, requests{});
  manual_clock::advance(1ns);
  poll();
  EXPECT_EQ(operation.requests, requests{cancellation_type::partial});
  EXPECT_TRUE(results.empty());  // a request is not yet an end
  operation.complete(aborted, 7);
  poll();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], std::pair(aborted, 7));
}

TEST_P(cancel_after_test, an_operation_that_is_early_leaves_no_wait_behind) {
  operation.start(in_two_ns(note()));
  operation.complete(success, 1);
  EXPECT_EQ(context.run(), 1u);  // the work of the wait is gone, too
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], std::pair(success, 1));
  manual_clock::advance(1h);
  poll();
  EXPECT_EQ(operation.requests, requests{});
}

TEST_P(cancel_after_test, a_timeout_that_expires_together_with_the_operation_does_no_harm) {
  for (int order = 0; order != 2; ++order) {
    manual_clock::set(0s);
    operation.start(in_two_ns(note()));
    manual_timer timer(context, manual_clock::time_point(order == 0 ? 1ns : 2ns));
    timer.async_wait([&](weft::error_code) { operation.complete(success, order); });
    manual_clock::advance(2ns);
    poll();
    EXPECT_EQ(results.size(), static_cast<std::size_t>(order) + 1);
  }
}

TEST_P(cancel_after_test, a_timeout_of_zero_reaches_the_operation) {
  operation.start(cancel_after(0s, note()));
  poll();
  EXPECT_EQ(operation.requests, requests{cancellation_type::terminal});
  operation.drop();
}

TEST_P(cancel_after_test, a_timeout_beyond_the_clock_never_comes) {
  operation.start(cancel_after(std::chrono::hours::max(), note()));
  poll();
  EXPECT_EQ(operation.requests, requests{});
  operation.complete(success, 3);
  poll();
  EXPECT_EQ(results.size(), 1u);
}

TEST_P(cancel_after_test, it_may_be_given_as_a_time_point) {
  operation.start(cancel_at(std::chrono::system_clock::now(), cancellation_type::total, note()));
  poll();
  EXPECT_EQ(operation.requests, requests{cancellation_type::total});
  operation.drop();
  operation.start(cancel_at(std::chrono::steady_clock::now() + 1h, note()));
  operation.complete(success, 1);
  context.restart();
  EXPECT_EQ(context.run(), 1u);
}

TEST_P(cancel_after_test, a_timer_of_the_callers_is_set_and_waited_on) {
  manual_timer timer(context);
  operation.start(cancel_after(timer, 2ns, cancellation_type::total, note()));
  EXPECT_EQ(timer.expiry(), manual_clock::time_point(2ns));
  manual_clock::advance(2ns);
  poll();
  EXPECT_EQ(operation.requests, requests{cancellation_type::total});
  operation.complete(aborted, 1);
  poll();
  EXPECT_EQ(results.size(), 1u);

  operation.start(cancel_at(timer, manual_clock::time_point(9ns), note()));
  EXPECT_EQ(timer.expiry(), manual_clock::time_point(9ns));
  operation.complete(success, 1);
  poll();
  EXPECT_EQ(timer.cancel(), 0u);  // nothing waits any longer
}

TEST_P(cancel_after_test, cancelling_the_callers_timer_ends_the_timeout_alone) {
  std::optional<manual_timer> timer(std::in_place, context);
  operation.start(cancel_after(*timer, 2ns, note()));
  EXPECT_EQ(timer->cancel(), 1u);
  timer.reset();
  manual_clock::advance(2ns);
  poll();
  EXPECT_EQ(operation.requests, requests{});
  operation.complete(success, 1);
  poll();
  EXPECT_EQ(results.size(), 1u);
}

TEST_P(cancel_after_test, the_handlers_own_slot_still_reaches_the_operation) {
  weft::cancellation_signal signal;
  operation.start(in_two_ns(weft::bind_cancellation_slot(signal.slot(), note())));
  signal.emit(cancellation_type::total);
  EXPECT_EQ(operation.requests, requests{cancellation_type::total});
  operation.complete(aborted, 1);
  poll();
  EXPECT_FALSE(signal.slot().has_handler());
  signal.emit(cancellation_type::total);
  EXPECT_EQ(results.size(), 1u);
}

TEST_P(cancel_after_test, without_a_token_it_adapts_the_default_token_or_the_next_one) {
  auto deferred = operation.start(in_two_ns(weft::deferred));
  EXPECT_FALSE(operation.is_started());
  std::move(deferred)(note());
  operation.complete(success, 1);
  poll();
  operation.start(cancel_after(1h))(note());
  operation.complete(success, 2);
  poll();
  operation.start(cancel_at(std::chrono::steady_clock::now() + 1h)(note()));
  operation.complete(success, 3);
  poll();
  manual_timer timer(context);
  operation.start(cancel_after(timer, 1h))(note());
  operation.complete(success, 4);
  poll();
  EXPECT_EQ(results.size(), 4u);
}

TEST_P(cancel_after_test, it_wraps_tokens_of_any_kind) {
  auto future = operation.start(in_two_ns(weft::as_tuple(weft::use_future)));
  operation.complete(aborted, 5);
  poll();
  EXPECT_EQ(future.get(), std::tuple(aborted, 5));
}

TEST_P(cancel_after_test, a_wait_on_a_timer_is_cancelled_by_it) {
  manual_timer timer(context, 1h);
  std::vector<weft::error_code> errors;
  timer.async_wait(in_two_ns([&](weft::error_code ec) { errors.push_back(ec); }));
  manual_clock::advance(2ns);
  poll();
  EXPECT_EQ(errors, std::vector{aborted});
}

TEST_P(cancel_after_test, the_handler_runs_in_its_associated_executor) {
  weft::thread_pool pool(1);
  std::thread::id ran;
  manual_timer timer(context, 1h);
  timer.async_wait(in_two_ns(weft::bind_executor(
      pool.get_executor(), [&](weft::error_code) { ran = std::this_thread::get_id(); })));
  timer.cancel();
  poll();
  pool.join();
  EXPECT_NE(ran, std::thread::id());
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST_P(cancel_after_test, an_initiation_that_throws_leaves_nothing_behind) {
  const auto throwing = [](auto&&) { throw std::runtime_error("not started"); };
  auto token = in_two_ns([](weft::error_code) {});
  EXPECT_THROW((weft::async_initiate<decltype(token)&, void(weft::error_code)>(throwing, token)),
               std::runtime_error);
  EXPECT_EQ(context.run(), 0u);
}

TEST_P(cancel_after_test, a_timeout_may_come_while_the_operation_completes_on_another_thread) {
  std::vector<std::jthread> threads;
  auto work = weft::make_work_guard(context);
  for (int i = 0; i != 2; ++i)
    threads.emplace_back([this] { context.run(); });
  for (int round = 0; round != 1000; ++round) {
    weft::steady_timer timer(context, std::chrono::microseconds(round % 7));
    std::atomic<int> calls{0};
    std::latch done(1);
    timer.async_wait(cancel_after(std::chrono::microseconds(round % 5), [&](weft::error_code) {
      ++calls;
      done.count_down();
    }));
    done.wait();
    EXPECT_EQ(calls, 1);
  }
  work.reset();
}

WEFT_INSTANTIATE_BACKENDS(cancel_after_test);

TEST(cancel_after_end_test, a_context_may_end_before_operation_and_timeout) {
  const auto alive = std::make_shared<int>(0);
  {
    weft::io_context context;
    held_operation operation(context);
    operation.start(cancel_after(1h, [alive](weft::error_code, int) { FAIL(); }));
    auto timer = std::make_shared<weft::steady_timer>(context, 1h);
    timer->async_wait(cancel_after(2h, [alive, timer](weft::error_code) { FAIL(); }));
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(cancel_after_end_test, an_operation_of_another_context_may_outlive_that_of_the_timer) {
  weft::io_context context;
  held_operation operation(context);
  int calls = 0;
  {
    weft::io_context other;
    weft::steady_timer timer(other);
    operation.start(cancel_after(timer, 1h, [&](weft::error_code, int) { ++calls; }));
  }
  operation.complete(success, 1);
  context.run();
  EXPECT_EQ(calls, 1);
}

}  // namespace
