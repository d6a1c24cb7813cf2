// SPDX-License-Identifier: BSL-1.0
// Promises P1, P2, P3 and P5 for every kind of operation.
#include <atomic>
#include <mutex>
#include <thread>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/locking_executor.hpp"
#include "support/operation_test.hpp"

namespace {

using weft_test::locking_executor;
using weft_test::operation_family;
using weft_test::probe;
using weft_test::report;

class every_operation : public weft_test::operation_test {};

TEST_P(every_operation, completes_once_and_not_inside_the_call_that_started_it) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    for (int round = 0; round != 3; ++round) {
      report r;
      object->start(probe(r, executor()));
      EXPECT_EQ(r.calls, 0);
      object->satisfy();
      run_until_called(r);
      EXPECT_EQ(r.ec, weft::error_code());
      context->restart();
      context->poll();
      EXPECT_EQ(r.endings(), 1);
      if (family.name == "tcp_wait_error")
        break;  // the urgent byte stays
    }
  });
}

TEST_P(every_operation, completes_once_when_it_is_satisfied_before_it_starts) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    report r;
    object->satisfy();
    object->start(probe(r, executor()));
    EXPECT_EQ(r.calls, 0);
    object->satisfy();
    run_until_called(r);
    EXPECT_EQ(r.ec, weft::error_code());
  });
}

TEST_P(every_operation, has_returned_its_memory_when_the_handler_is_called) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    report r;
    object->start(probe(r, executor()));
    EXPECT_EQ(r.memory.allocations != 0, allocating(family)) << "of the handler's allocator";
    object->satisfy();
    run_until_called(r);
    EXPECT_EQ(r.blocks_at_call, 0u);
  });
}

TEST_P(every_operation, reports_an_error_once_and_not_inside_the_call_that_started_it) {
  for_each_family(failing, [&](const operation_family& family) {
    auto object = family.make(*context);
    const weft::error_code expected = object->fail();
    report r;
    object->start(probe(r, executor()));
    EXPECT_EQ(r.calls, 0);
    run_until_called(r);
    EXPECT_EQ(r.ec, expected);
    EXPECT_EQ(r.blocks_at_call, 0u);
    context->restart();
    context->poll();
    EXPECT_EQ(r.endings(), 1);
  });
}

TEST_P(every_operation, waits_until_it_is_satisfied) {
  for_each_family(pending, [&](const operation_family& family) {
    auto object = family.make(*context);
    report r;
    object->start(probe(r, executor()));
    for (int i = 0; i != 3; ++i)
      context->poll();
    EXPECT_EQ(r.endings(), 0);
    EXPECT_FALSE(context->stopped());
    object.reset();
    context.reset();
    EXPECT_EQ(r.endings(), 1);
  });
}

TEST_P(every_operation, reports_bad_descriptor_on_a_closed_object) {
  for_each_family([](const operation_family& f) { return f.closes(); },
                  [&](const operation_family& family) {
                    auto object = family.make(*context);
                    object->close();
                    object->close();
                    report r;
                    object->start(probe(r, executor()));
                    EXPECT_EQ(r.calls, 0);
                    run_until_called(r);
                    EXPECT_EQ(r.ec, weft::error::bad_descriptor);
                    EXPECT_EQ(r.blocks_at_call, 0u);
                  });
}

TEST_P(every_operation, hears_nothing_of_a_cancel_before_it_started) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    object->cancel();
    weft::cancellation_signal signal;
    signal.emit(weft::cancellation_type::all);
    report r;
    object->start(probe(r, executor(), signal.slot()));
    object->satisfy();
    run_until_called(r);
    EXPECT_EQ(r.ec, weft::error_code());
  });
}

TEST_P(every_operation, ends_by_its_slot_and_the_next_one_is_unhurt) {
  for_each_family(pending, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    for (const auto type : {weft::cancellation_type::terminal, weft::cancellation_type::all}) {
      report r;
      object->start(probe(r, executor(), signal.slot()));
      context->poll();
      signal.emit(type);
      EXPECT_EQ(r.calls, 0) << "inline";
      run_until_called(r);
      EXPECT_EQ(r.ec, family.aborted);
      EXPECT_EQ(r.blocks_at_call, 0u);
      EXPECT_FALSE(signal.slot().has_handler());
    }
    report next;
    object->start(probe(next, executor(), signal.slot()));
    if (family.satisfiable) {
      object->satisfy();
      run_until_called(next);
      EXPECT_EQ(next.ec, weft::error_code());
    } else {
      context->poll();
      EXPECT_EQ(next.calls, 0);
      signal.emit(weft::cancellation_type::terminal);
      run_until_called(next);
    }
  });
}

TEST_P(every_operation, cancelled_at_once_by_its_slot_still_ends_once) {
  for_each_family(all, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    report r;
    object->start(probe(r, executor(), signal.slot()));
    signal.emit(weft::cancellation_type::terminal);
    signal.emit(weft::cancellation_type::terminal);
    run_until_called(r);
    if (family.pends) {
      EXPECT_EQ(r.ec, family.aborted);
    } else {
      EXPECT_TRUE(!r.ec || r.ec == family.aborted) << r.ec.message();
      signal.emit(weft::cancellation_type::terminal);
    }
    context->restart();
    context->poll();
    EXPECT_EQ(r.endings(), 1);
  });
}

TEST_P(every_operation, completed_and_queued_then_cancelled_by_its_slot_ends_once) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    report r;
    object->start(probe(r, executor(), signal.slot()));
    context->poll_one();
    object->satisfy();
    weft::post(*context, [&] { signal.emit(weft::cancellation_type::terminal); });
    run_until_called(r);
    EXPECT_TRUE(!r.ec || r.ec == family.aborted) << r.ec.message();
  });
}

TEST_P(every_operation, ends_by_cancel_of_its_object_and_the_next_one_is_unhurt) {
  for_each_family([](const operation_family& f) { return f.pends && f.cancels; },
                  [&](const operation_family& family) {
                    auto object = family.make(*context);
                    report r;
                    object->start(probe(r, executor()));
                    context->poll();
                    object->cancel();
                    EXPECT_EQ(r.calls, 0) << "inline";
                    run_until_called(r);
                    EXPECT_EQ(r.ec, family.aborted);
                    report next;
                    object->start(probe(next, executor()));
                    if (family.satisfiable)
                      object->satisfy();
                    else
                      object->cancel();
                    run_until_called(next);
                    EXPECT_EQ(!next.ec, family.satisfiable);
                  });
}

TEST_P(every_operation, ends_by_close_while_pending) {
  for_each_family([](const operation_family& f) { return f.pends && f.closes(); },
                  [&](const operation_family& family) {
                    auto object = family.make(*context);
                    report r;
                    object->start(probe(r, executor()));
                    context->poll();
                    object->close();
                    EXPECT_EQ(r.calls, 0) << "inline";
                    run_until_called(r);
                    EXPECT_EQ(r.ec, family.aborted);
                  });
}

TEST_P(every_operation, ends_by_a_signal_from_another_thread_while_the_poller_sleeps) {
  for_each_family(pending, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    report r;
    object->start(probe(r, executor(), signal.slot()));
    context->poll();
    std::thread canceller([&] { signal.emit(weft::cancellation_type::terminal); });
    run_until_called(r);
    canceller.join();
    EXPECT_EQ(r.ec, family.aborted);
  });
}

TEST_P(every_operation, ends_by_cancel_or_close_from_another_thread_while_the_poller_sleeps) {
  for_each_family([](const operation_family& f) { return f.pends && (f.cancels || f.closes()); },
                  [&](const operation_family& family) {
                    auto object = family.make(*context);
                    for (const bool close : {false, true}) {
                      if (close ? !family.closes() : !family.cancels)
                        continue;
                      report r;
                      object->start(probe(r, executor()));
                      context->poll();
                      std::thread other([&] { close ? object->close() : object->cancel(); });
                      run_until_called(r);
                      other.join();
                      EXPECT_EQ(r.ec, family.aborted);
                    }
                  });
}

TEST_P(every_operation, raced_by_a_signal_from_another_thread_ends_once) {
  for_each_family(all, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    for (int round = 0; round != 20; ++round) {
      report r;
      object->start(probe(r, executor(), signal.slot()));
      std::thread canceller([&] { signal.emit(weft::cancellation_type::terminal); });
      object->satisfy();
      run_until_called(r);
      canceller.join();
      EXPECT_TRUE(!r.ec || r.ec == family.aborted) << r.ec.message();
      EXPECT_EQ(r.endings(), 1);
      if (family.name == "tcp_wait_error" || family.name == "write_whole")
        object = family.make(*context);
    }
  });
}

TEST_P(every_operation, calls_its_handler_in_the_executor_of_the_handler) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    std::recursive_mutex mutex;
    bool inside = false;
    report r;
    r.then = [&] { inside = locking_executor::inside(); };
    object->start(probe(r, locking_executor(*context, mutex)));
    object->satisfy();
    run_until_called(r);
    EXPECT_TRUE(inside);
    EXPECT_EQ(r.blocks_at_call, 0u);
  });
}

TEST_P(every_operation, is_started_and_completed_by_any_of_several_threads) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    auto guard = weft::make_work_guard(*context);
    std::thread first([&] { context->run(); }), second([&] { context->run(); });
    for (int round = 0; round != 5; ++round) {
      report r;
      std::atomic<bool> started{false}, done{false};
      r.then = [&] {
        done = true;
        done.notify_one();
      };
      weft::post(*context, [&] {
        object->start(probe(r, executor()));
        started = true;
        started.notify_one();
      });
      weft::post(*context, [&] {});
      // Only when it has started may it be satisfied.
      started.wait(false);
      std::atomic<bool> satisfied{false};
      weft::post(*context, [&] {
        object->satisfy();
        satisfied = true;
        satisfied.notify_one();
      });
      satisfied.wait(false);
      if (family.name != "write_whole")
        done.wait(false);
      else
        while (!done)
          object->satisfy();
      EXPECT_EQ(r.endings(), 1);
      if (family.name == "tcp_wait_error")
        break;
    }
    guard.reset();
    object.reset();
    first.join();
    second.join();
  });
}

INSTANTIATE_TEST_SUITE_P(backend, every_operation, ::testing::ValuesIn(weft_test::backends()),
                         weft_test::backend_name);

}  // namespace
