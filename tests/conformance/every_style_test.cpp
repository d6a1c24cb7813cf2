// SPDX-License-Identifier: BSL-1.0
// Every kind of operation, waited for in every style: it ends once, with the same result.
#include <chrono>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>

#include "support/operation_test.hpp"
#include "support/waiting_styles.hpp"

namespace {

using weft_test::operation_family;
using weft_test::wait_outcome;
using weft_test::waiting_style;

class every_style : public weft_test::operation_test {
 protected:
  /// Calls `f(family, start)` for each family that `wanted` names and each style that it can be
  /// waited for in, with a new context; `start(object, outcome, slot)` has somebody wait.
  template <class Wanted, class F>
  void for_each_wait(Wanted wanted, F f) {
    for (const waiting_style& style : weft_test::waiting_styles()) {
      SCOPED_TRACE(style.name);
      const auto wanted_so = [&](const operation_family& family) {
        return wanted(family) && (family.make.is_direct || !style.is_direct);
      };
      for_each_family(wanted_so, [&](const operation_family& family) {
        f(family, [&](auto& object, wait_outcome& outcome, weft::cancellation_slot slot = {}) {
          style.start(*object, outcome, executor(), slot);
        });
      });
      if (HasFatalFailure())
        return;
    }
  }

  /// Runs until the wait has ended, or for a hundred seconds.
  void run_until_ended(wait_outcome& o) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (!has_ended(o) && std::chrono::steady_clock::now() < end) {
      context->restart();
      context->run_one_until(end);
    }
    ASSERT_EQ(o.ended, 1) << "the wait has not ended";
  }

  /// Lets what is left to be done be done.
  void settle() {
    context->restart();
    context->poll();
  }

  static bool has_ended(wait_outcome& o) {
    if (o.look && o.ended == 0)
      o.look();
    return o.ended != 0;
  }
};

TEST_P(every_style, hears_of_success_once) {
  for_each_wait(satisfiable, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    wait_outcome o;
    start(object, o);
    settle();
    object->satisfy();
    run_until_ended(o);
    EXPECT_EQ(o.result, weft::error_code());
    settle();
    EXPECT_EQ(o.ended, 1);
    EXPECT_EQ(o.operation.endings(), o.handlers);
    o.look = nullptr;
    EXPECT_EQ(o.let_go, 1);
  });
}

TEST_P(every_style, hears_of_success_that_is_there_already) {
  for_each_wait(satisfiable, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    wait_outcome o;
    object->satisfy();
    start(object, o, signal.slot());
    settle();
    if (!has_ended(o))
      object->satisfy();
    run_until_ended(o);
    EXPECT_EQ(o.result, weft::error_code());
  });
}

TEST_P(every_style, hears_of_a_closed_object) {
  for_each_wait([](const operation_family& f) { return f.closes(); },
                [&](const operation_family& family, auto start) {
                  auto object = family.make(*context);
                  object->close();
                  wait_outcome o;
                  start(object, o);
                  run_until_ended(o);
                  EXPECT_EQ(o.result, weft::error::bad_descriptor);
                });
}

TEST_P(every_style, hears_of_an_error_once) {
  for_each_wait(failing, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    wait_outcome o;
    if (family.pends) {
      start(object, o);
      settle();
    }
    const weft::error_code expected = object->fail();
    ASSERT_TRUE(expected);
    if (!family.pends)
      start(object, o);
    run_until_ended(o);
    EXPECT_EQ(o.result, expected);
    settle();
    EXPECT_EQ(o.ended, 1);
    EXPECT_EQ(o.operation.endings(), o.handlers);
  });
}

TEST_P(every_style, hears_of_an_error_that_is_there_already) {
  for_each_wait(failing, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    const weft::error_code expected = object->fail();
    weft::cancellation_signal signal;
    wait_outcome o;
    start(object, o, signal.slot());
    run_until_ended(o);
    EXPECT_EQ(o.result, expected);
  });
}

TEST_P(every_style, hears_nothing_of_a_cancel_before_it) {
  for_each_wait(satisfiable, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    signal.emit(weft::cancellation_type::terminal);
    wait_outcome o;
    start(object, o, signal.slot());
    settle();
    object->satisfy();
    run_until_ended(o);
    EXPECT_EQ(o.result, weft::error_code());
  });
}

TEST_P(every_style, is_cancelled_before_it_has_waited) {
  for_each_wait(pending, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    wait_outcome o;
    start(object, o, signal.slot());
    signal.emit(weft::cancellation_type::terminal);
    run_until_ended(o);
    // A coroutine or a fiber has not begun to wait.
    EXPECT_TRUE(o.result == family.aborted || o.result == weft::error::operation_aborted)
        << o.result.message();
  });
}

TEST_P(every_style, is_cancelled_while_it_waits_and_the_next_is_unhurt) {
  for_each_wait(pending, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    wait_outcome o;
    start(object, o, signal.slot());
    settle();
    EXPECT_EQ(o.ended, 0);
    signal.emit(weft::cancellation_type::terminal);
    EXPECT_EQ(o.ended, 0) << "inline";
    run_until_ended(o);
    EXPECT_EQ(o.result, family.aborted);
    EXPECT_FALSE(signal.slot().has_handler());
    if (family.satisfiable) {
      wait_outcome next;
      start(object, next, signal.slot());
      settle();
      object->satisfy();
      run_until_ended(next);
      EXPECT_EQ(next.result, weft::error_code());
    }
  });
}

TEST_P(every_style, hears_nothing_of_a_cancel_after_it) {
  for_each_wait(satisfiable, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    wait_outcome o;
    start(object, o, signal.slot());
    settle();
    object->satisfy();
    run_until_ended(o);
    signal.emit(weft::cancellation_type::terminal);
    settle();
    EXPECT_EQ(o.ended, 1);
    EXPECT_EQ(o.result, weft::error_code());
  });
}

TEST_P(every_style, is_let_go_when_its_context_ends) {
  for_each_wait(pending, [&](const operation_family& family, auto start) {
    auto object = family.make(*context);
    wait_outcome o;
    start(object, o);
    settle();
    EXPECT_EQ(o.ended, 0);
    object.reset();
    context.reset();
    EXPECT_EQ(o.operation.endings(), o.handlers);
    o.look = nullptr;
    EXPECT_EQ(o.let_go, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(backend, every_style, ::testing::ValuesIn(weft_test::backends()),
                         weft_test::backend_name);

}  // namespace
