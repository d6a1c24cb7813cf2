// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/base/error.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/coro/co_spawn.hpp>

#include "support/misuse.hpp"
#include "unit/sync/waits.hpp"

namespace {

using weft::bind_cancellation_slot;
using weft::cancellation_signal;
using weft::cancellation_type;
using weft::error_code;
using weft::io_context;
using weft_test::expect_assertion;
using weft_test::wait_family;

/// What holds for every wait of every object of sync/.
class every_wait : public ::testing::TestWithParam<weft_test::family_maker> {
 protected:
  auto keep(error_code& ec) {
    return [this, &ec](error_code e) {
      ec = e;
      ++calls;
    };
  }
  std::size_t run() {
    const std::size_t n = context->poll();
    context->restart();
    return n;
  }

  std::optional<io_context> context{std::in_place};
  std::unique_ptr<wait_family> object = GetParam().make(*context);
  int calls = 0;
};

TEST_P(every_wait, completes_when_it_is_satisfied_and_not_inline) {
  error_code ec = weft::error::fault;
  object->wait(keep(ec));
  run();
  EXPECT_EQ(calls, 0);
  object->satisfy();
  EXPECT_EQ(calls, 0);
  run();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(ec);
}

TEST_P(every_wait, counts_as_work_until_it_has_completed) {
  error_code ec;
  object->wait(keep(ec));
  weft::post(*context, [this] { object->satisfy(); });
  EXPECT_GE(context->run(), 2u);
  EXPECT_EQ(calls, 1);
}

TEST_P(every_wait, is_ended_by_cancel_in_the_order_of_asking) {
  std::vector<int> order;
  for (int i = 0; i != 3; ++i)
    object->wait([&order, i](error_code ec) {
      EXPECT_EQ(ec, weft::error::operation_aborted);
      order.push_back(i);
    });
  object->cancel();
  EXPECT_TRUE(order.empty());
  run();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST_P(every_wait, is_ended_by_its_slot_alone_whatever_the_type) {
  for (const cancellation_type type :
       {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    cancellation_signal signal;
    error_code cancelled;
    error_code other = weft::error::fault;
    calls = 0;
    object->wait(bind_cancellation_slot(signal.slot(), keep(cancelled)));
    object->wait(keep(other));
    signal.emit(type);
    EXPECT_EQ(calls, 0);
    run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(cancelled, weft::error::operation_aborted);
    object->cancel();
    run();
    EXPECT_EQ(calls, 2);
  }
}

TEST_P(every_wait, is_not_ended_by_an_emission_of_no_type) {
  cancellation_signal signal;
  error_code ec;
  object->wait(bind_cancellation_slot(signal.slot(), keep(ec)));
  signal.emit(cancellation_type::none);
  run();
  EXPECT_EQ(calls, 0);
  object->cancel();
  run();
  EXPECT_EQ(calls, 1);
}

TEST_P(every_wait, that_has_been_satisfied_reports_success_in_spite_of_a_later_cancellation) {
  cancellation_signal signal;
  error_code ec = weft::error::fault;
  object->wait(bind_cancellation_slot(signal.slot(), keep(ec)));
  object->satisfy();
  signal.emit(cancellation_type::terminal);
  object->cancel();
  run();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(ec);
  signal.emit(cancellation_type::terminal);
}

TEST_P(every_wait, leaves_no_trace_when_it_has_been_cancelled) {
  cancellation_signal signal;
  error_code first;
  error_code second = weft::error::fault;
  object->wait(bind_cancellation_slot(signal.slot(), keep(first)));
  signal.emit(cancellation_type::total);
  run();
  if (GetParam().name.ends_with("barrier"))
    return;  // this fixture counts arrivals: barrier_test looks there
  object->wait(keep(second));
  run();
  EXPECT_EQ(calls, 1);
  object->satisfy();
  run();
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(second);
}

TEST_P(every_wait, is_aborted_when_its_object_is_destroyed) {
  cancellation_signal signal;
  error_code plain;
  error_code cancellable;
  object->wait(keep(plain));
  object->wait(bind_cancellation_slot(signal.slot(), keep(cancellable)));
  object.reset();
  EXPECT_EQ(calls, 0);
  signal.emit(cancellation_type::terminal);
  run();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(plain, weft::error::operation_aborted);
  EXPECT_EQ(cancellable, weft::error::operation_aborted);
}

TEST_P(every_wait, is_destroyed_with_its_context_though_its_handler_owns_the_object) {
  std::shared_ptr<wait_family> shared = std::move(object);
  const std::weak_ptr<wait_family> alive = shared;
  cancellation_signal signal;
  shared->wait([shared, this](error_code) { ++calls; });
  shared->wait(bind_cancellation_slot(signal.slot(), [shared, this](error_code) { ++calls; }));
  shared.reset();
  EXPECT_FALSE(alive.expired());
  context.reset();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(alive.expired());
}

TEST_P(every_wait, may_have_its_object_destroyed_by_its_handler) {
  object->wait([this](error_code) {
    ++calls;
    object.reset();
  });
  object->wait([this](error_code) { ++calls; });
  object->satisfy();
  run();
  EXPECT_EQ(calls, 2);
}

TEST_P(every_wait, completes_in_the_handlers_executor) {
  auto strand = weft::make_strand(*context);
  object->wait(weft::bind_executor(strand, [&](error_code ec) {
    EXPECT_FALSE(ec);
    EXPECT_TRUE(strand.running_in_this_thread());
    ++calls;
  }));
  object->satisfy();
  run();
  EXPECT_EQ(calls, 1);
}

TEST_P(every_wait, completes_in_another_context) {
  io_context other;
  object->wait(weft::bind_executor(other.get_executor(), [&](error_code ec) {
    EXPECT_FALSE(ec);
    EXPECT_TRUE(other.get_executor().running_in_this_thread());
    ++calls;
  }));
  object->satisfy();
  run();
  EXPECT_EQ(calls, 0);
  other.run();
  EXPECT_EQ(calls, 1);
}

TEST_P(every_wait, gives_back_the_work_of_another_context_when_its_own_ends) {
  io_context other;
  object->wait(weft::bind_executor(other.get_executor(), [&](error_code) { ++calls; }));
  context.reset();
  other.run();
  EXPECT_EQ(calls, 0);
}

weft::awaitable<void> wait(wait_family& object, error_code& ec) {
  try {
    co_await object.co_wait();
    ec = error_code();
  } catch (const weft::system_error& e) {
    ec = e.code();
  }
}

TEST_P(every_wait, of_a_coroutine_completes) {
  error_code ec = weft::error::fault;
  co_spawn(*context, wait(*object, ec), weft::detached);
  run();
  EXPECT_EQ(ec, weft::error::fault);
  object->satisfy();
  EXPECT_EQ(ec, weft::error::fault);
  run();
  EXPECT_FALSE(ec);
}

TEST_P(every_wait, of_a_coroutine_is_cancelled_by_its_slot) {
  error_code ec;
  cancellation_signal signal;
  co_spawn(*context, wait(*object, ec), bind_cancellation_slot(signal.slot(), weft::detached));
  run();
  signal.emit(cancellation_type::terminal);
  EXPECT_FALSE(ec);
  run();
  EXPECT_EQ(ec, weft::error::operation_aborted);
}

TEST_P(every_wait, of_a_cancellable_coroutine_completes) {
  error_code ec = weft::error::fault;
  cancellation_signal signal;
  co_spawn(*context, wait(*object, ec), bind_cancellation_slot(signal.slot(), weft::detached));
  run();
  object->satisfy();
  signal.emit(cancellation_type::terminal);
  run();
  EXPECT_FALSE(ec);
}

TEST_P(every_wait, of_a_coroutine_is_aborted_when_its_object_is_destroyed) {
  error_code ec;
  co_spawn(*context, wait(*object, ec), weft::detached);
  run();
  object.reset();
  run();
  EXPECT_EQ(ec, weft::error::operation_aborted);
}

weft::awaitable<void> wait_for_own(std::unique_ptr<wait_family> object, int& ended) {
  struct at_the_end {
    ~at_the_end() { ++count; }
    int& count;
  } end{ended};
  co_await object->co_wait();
}

TEST_P(every_wait, of_a_coroutine_that_owns_the_object_is_destroyed_with_the_context) {
  int ended = 0;
  co_spawn(*context, wait_for_own(std::move(object), ended), weft::detached);
  run();
  EXPECT_EQ(ended, 0);
  context.reset();
  EXPECT_EQ(ended, 1);
}

TEST_P(every_wait, of_a_coroutine_in_another_context_completes_there) {
  io_context other;
  error_code ec = weft::error::fault;
  co_spawn(other, wait(*object, ec), weft::detached);
  other.poll();
  object->satisfy();
  run();
  EXPECT_EQ(ec, weft::error::fault);
  other.run();
  EXPECT_FALSE(ec);
}

weft::awaitable<void> wait_abroad(wait_family& object, std::shared_ptr<int>) {
  co_await object.co_wait();
  ADD_FAILURE();
}

TEST_P(every_wait, of_a_coroutine_in_another_context_is_destroyed_with_that) {
  const auto alive = std::make_shared<int>();
  std::optional<io_context> other(std::in_place);
  co_spawn(*other, wait_abroad(*object, alive), weft::detached);
  other->poll();
  EXPECT_EQ(alive.use_count(), 2);
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  object->satisfy();
  run();
}

TEST_P(every_wait, that_has_been_satisfied_is_destroyed_with_its_other_context) {
  const auto alive = std::make_shared<int>();
  std::optional<io_context> other(std::in_place);
  co_spawn(*other, wait_abroad(*object, alive), weft::detached);
  other->poll();
  object->satisfy();
  other.reset();
  EXPECT_EQ(alive.use_count(), 1);
  run();
}

TEST_P(every_wait, of_a_coroutine_in_another_context_is_destroyed_with_the_objects_context) {
  const auto alive = std::make_shared<int>();
  io_context other;
  co_spawn(other, wait_abroad(*object, alive), weft::detached);
  other.poll();
  context.reset();
  EXPECT_EQ(alive.use_count(), 1);
  other.run();  // returns, for no work is left
}

TEST_P(every_wait, of_a_coroutine_in_a_strand_completes_there) {
  auto strand = weft::make_strand(*context);
  error_code ec = weft::error::fault;
  co_spawn(
      strand,
      [&]() -> weft::awaitable<void> {
        co_await wait(*object, ec);
        EXPECT_TRUE(strand.running_in_this_thread());
      },
      weft::detached);
  run();
  object->satisfy();
  run();
  EXPECT_FALSE(ec);
}

INSTANTIATE_TEST_SUITE_P(objects, every_wait, ::testing::ValuesIn(weft_test::all_wait_families()),
                         [](const auto& each) { return each.param.name; });

// ---- misuse

class every_local_wait_death : public ::testing::TestWithParam<weft_test::family_maker> {};

TEST_P(every_local_wait_death, a_second_thread_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        const auto object = GetParam().make(context);
        object->wait([](error_code) {});
        std::thread([&] { object->satisfy(); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

INSTANTIATE_TEST_SUITE_P(
    objects, every_local_wait_death,
    ::testing::ValuesIn(weft_test::wait_families<weft::sharing::local>("local")),
    [](const auto& each) { return each.param.name; });

}  // namespace
