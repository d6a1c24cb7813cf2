// SPDX-License-Identifier: BSL-1.0
// What goes wrong around every kind of operation: contexts that go, handlers, allocators and
// executors that throw.
#include <fcntl.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/context/post.hpp>

#include "support/child.hpp"
#include "support/operation_test.hpp"
#include "support/sanitizer.hpp"

namespace {

using weft_test::operation_case;
using weft_test::operation_family;
using weft_test::probe;
using weft_test::report;

class every_operation_fault : public weft_test::operation_test {};

TEST_P(every_operation_fault, a_context_may_go_with_it_pending_and_its_handler_owning_the_object) {
  for_each_family(all, [&](const operation_family& family) {
    for (const bool polled : {false, true}) {
      report r;
      {
        std::shared_ptr<operation_case> object = family.make(*context);
        operation_case& o = *object;
        o.start(probe(r, executor(), {}, std::move(object)));
      }
      if (polled)
        context->poll();
      const int called = r.calls;
      context.reset();
      EXPECT_EQ(r.calls, called);
      EXPECT_EQ(r.endings(), 1);
      EXPECT_EQ(r.memory.blocks, 0u);
      context.emplace(weft_test::make_context_options(GetParam()));
    }
  });
}

TEST_P(every_operation_fault, a_context_may_go_with_it_completed_and_unreported) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    report r;
    {
      std::shared_ptr<operation_case> object = family.make(*context);
      operation_case& o = *object;
      o.start(probe(r, executor(), {}, object));
      context->poll_one();
      if (r.calls == 0)
        o.satisfy();
    }
    const int called = r.calls;
    context.reset();
    EXPECT_EQ(r.calls, called);
    EXPECT_EQ(r.endings(), 1);
    EXPECT_EQ(r.memory.blocks, 0u);
  });
}

TEST_P(every_operation_fault, a_context_may_go_with_all_kinds_of_them_pending_at_once) {
  context.emplace(weft_test::make_context_options(GetParam()));
  std::vector<std::unique_ptr<report>> reports;
  for (const operation_family& family : weft_test::operation_families()) {
    report& r = *reports.emplace_back(std::make_unique<report>());
    std::shared_ptr<operation_case> object = family.make(*context);
    operation_case& o = *object;
    o.start(probe(r, executor(), {}, std::move(object)));
  }
  std::thread runner([&] { context->run_for(std::chrono::milliseconds(5)); });
  runner.join();
  context.reset();
  for (const auto& r : reports) {
    EXPECT_EQ(r->endings(), 1);
    EXPECT_EQ(r->memory.blocks, 0u);
  }
}

TEST_P(every_operation_fault, what_its_handler_throws_leaves_run_and_nothing_else_is_lost) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    auto other = family.make(*context);
    report thrown, kept;
    thrown.then = [] { throw std::runtime_error("handler"); };
    object->start(probe(thrown, executor()));
    other->start(probe(kept, executor()));
    object->satisfy();
    other->satisfy();
    int posted = 0;
    weft::post(*context, [&] { ++posted; });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    int exceptions = 0;
    while (thrown.calls + kept.calls != 2 && std::chrono::steady_clock::now() < end) {
      try {
        context->restart();
        context->run_one_until(end);
      } catch (const std::runtime_error&) {
        ++exceptions;
      }
    }
    EXPECT_EQ(exceptions, 1);
    EXPECT_EQ(thrown.endings(), 1);
    EXPECT_EQ(kept.endings(), 1);
    context->restart();
    context->poll();
    EXPECT_EQ(posted, 1);
    if (family.name == "tcp_wait_error")
      return;
    report again;
    object->start(probe(again, executor()));
    object->satisfy();
    run_until_called(again);
    EXPECT_EQ(again.ec, weft::error_code());
  });
}

// The n-th allocation from the handler's allocator fails, for every n there is.
TEST_P(every_operation_fault,
       an_allocation_that_fails_leaves_the_object_usable_and_nothing_behind) {
  for_each_family(allocating, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    for (int n = 0;; ++n) {
      ASSERT_LT(n, 50);
      report r;
      r.memory.fail_after = n;
      bool failed = false;
      try {
        object->start(probe(r, executor(), signal.slot()));
        object->satisfy();
        if (!family.satisfiable) {
          context->poll();
          signal.emit(weft::cancellation_type::terminal);
        }
      } catch (const std::bad_alloc&) {
        failed = true;
        EXPECT_EQ(r.calls, 0);
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
      while (r.endings() == 0 && std::chrono::steady_clock::now() < end) {
        try {
          context->restart();
          context->run_one_until(end);
        } catch (const std::bad_alloc&) {
          failed = true;
        }
      }
      EXPECT_EQ(r.endings(), 1) << "allocation " << n;
      EXPECT_EQ(r.memory.blocks, 0u) << "allocation " << n;
      failed = failed || r.ec == weft::error::no_memory;
      const bool enough = r.memory.fail_after > 0 || !failed;
      signal.emit(weft::cancellation_type::terminal);  // reaches nothing that is gone
      if (family.name == "tcp_wait_error")
        object = family.make(*context);  // it stays satisfied

      report next;
      object->start(probe(next, executor(), signal.slot()));
      if (family.satisfiable) {
        object->satisfy();
        run_until_called(next);
        EXPECT_EQ(next.ec, weft::error_code()) << "after allocation " << n;
      } else {
        context->poll();
        EXPECT_EQ(next.endings(), 0);
        signal.emit(weft::cancellation_type::terminal);
        run_until_called(next);
      }
      if (family.name == "tcp_wait_error")
        object = family.make(*context);
      if (enough)
        break;
    }
  });
}

/// An executor of the context whose submissions throw as long as the test says so.
class throwing_executor {
 public:
  throwing_executor(weft::io_context& context, const bool& throws) noexcept
      : context_(&context), throws_(&throws) {}
  weft::io_context& query(weft::execution::context_t) const noexcept { return *context_; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class Function>
  void execute(Function f) const {
    if (*throws_)
      throw std::logic_error("executor");
    weft::require(context_->get_executor(), weft::execution::blocking.never).execute(std::move(f));
  }
  friend bool operator==(const throwing_executor&, const throwing_executor&) noexcept = default;

 private:
  weft::io_context* context_;
  const bool* throws_;
};

TEST_P(every_operation_fault, what_the_executor_throws_leaves_run_until_it_takes_the_handler) {
  for_each_family(satisfiable, [&](const operation_family& family) {
    auto object = family.make(*context);
    report r;
    bool throws = true;
    object->start(probe(r, throwing_executor(*context, throws)));
    object->satisfy();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    int exceptions = 0;
    while (exceptions != 2 && std::chrono::steady_clock::now() < end) {
      try {
        context->restart();
        context->run_one_until(end);
      } catch (const std::logic_error&) {
        ++exceptions;
      }
    }
    EXPECT_EQ(exceptions, 2);
    EXPECT_EQ(r.endings(), 0);
    throws = false;
    run_until_called(r);
    EXPECT_EQ(r.calls, 1);
    EXPECT_EQ(r.endings(), 1);
    EXPECT_EQ(r.memory.blocks, 0u);
    if (family.name == "tcp_wait_error")
      object = family.make(*context);
    report next;
    object->start(probe(next, executor()));
    object->satisfy();
    run_until_called(next);
    EXPECT_EQ(next.ec, weft::error_code());
  });
}

TEST_P(every_operation_fault, pending_at_a_fork_completes_in_the_child) {
#if WEFT_TEST_TSAN
  GTEST_SKIP() << "ThreadSanitizer does not follow a fork of several threads";
#endif
  for_each_family(pending, [&](const operation_family& family) {
    auto object = family.make(*context);
    weft::cancellation_signal signal;
    report r;
    object->start(probe(r, executor(), signal.slot()));
    context->poll();
    int go[2];
    ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
    const pid_t child = weft_test::start_told_child(
        [&] {
          char byte;
          if (::read(go[0], &byte, 1) != 1)
            return false;
          // A process that the parent started is no child of this one.
          const bool succeeds = family.satisfiable && family.name != "process_wait";
          if (succeeds)
            object->satisfy();
          else
            signal.emit(weft::cancellation_type::terminal);
          context->restart();
          while (r.calls == 0 && context->run_one() != 0) {}
          return r.endings() == 1 && !r.ec == succeeds;
        },
        *context);
    // The parent's operation, and a stream that goes on, would take what is meant for the child's.
    signal.emit(weft::cancellation_type::terminal);
    run_until_called(r);
    EXPECT_EQ(r.ec, family.aborted);
    object->cease();
    EXPECT_EQ(::write(go[1], "", 1), 1);
    EXPECT_TRUE(weft_test::has_succeeded(child));
    ::close(go[0]);
    ::close(go[1]);
  });
}

INSTANTIATE_TEST_SUITE_P(backend, every_operation_fault, ::testing::ValuesIn(weft_test::backends()),
                         weft_test::backend_name);

}  // namespace
