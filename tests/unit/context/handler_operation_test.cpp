// SPDX-License-Identifier: BSL-1.0
#include <weft/context/handler_operation.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/polymorphic_executor.hpp>
#include <weft/sync/async_mutex.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft_test::allocation_counts;
using weft_test::counting_allocator;
using weft_test::manual_context;

/// An operation whose results are taken by a function of the test's.
class fake_operation : public weft::detail::operation {
 public:
  fake_operation(function f, weft::detail::scheduler& owner, std::function<int()> take)
      : operation(f), owner_(&owner), take_(std::move(take)) {}
  weft::detail::scheduler& owner() const noexcept { return *owner_; }
  weft::detail::operation_results<int> take_results() { return {take_ ? take_() : 7}; }

 protected:
  ~fake_operation() = default;

 private:
  weft::detail::scheduler* owner_;
  std::function<int()> take_;
};

struct fake_canceller {
  std::function<void()> cancel;
  void operator()(weft::cancellation_type) const { cancel(); }
};

template <class Handler>
using operation_for =
    weft::detail::handler_operation<fake_operation, Handler, weft::io_context::executor_type>;

/// Starts an operation that is complete, so that the context reports it when it runs.
template <class Handler>
void start(weft::io_context& context, Handler handler, std::function<int()> take = {},
           std::function<void()> cancel = {}) {
  weft::detail::scheduler& owner = weft::detail::use_scheduler(context);
  auto op = operation_for<Handler>::create(handler, context.get_executor(), owner, take);
  op->template connect<fake_canceller>(cancel);
  weft::detail::scheduler_post(owner, op.release());
}

template <class Handler>
void finish_at_once(weft::io_context& context, Handler handler) {
  auto op = operation_for<Handler>::create(handler, context.get_executor(),
                                           weft::detail::use_scheduler(context), nullptr);
  operation_for<Handler>::complete_immediately(op.release(), context.get_executor());
}

/// Counts how it ends, and how often.
class ending_handler {
 public:
  struct counts {
    int called = 0;
    int dropped = 0;
  };
  explicit ending_handler(counts& c) : counts_(&c) {}
  ending_handler(ending_handler&& other) noexcept
      : counts_(std::exchange(other.counts_, nullptr)) {}
  ~ending_handler() {
    if (counts_)
      ++counts_->dropped;
  }
  void operator()(int) { ++std::exchange(counts_, nullptr)->called; }

 private:
  counts* counts_;
};

// ---- the cancellation slot

// Whoever has come before the claim is heard, so an emission during it must not have returned.
TEST(handler_operation, an_emission_during_the_claim_does_not_return_before_it) {
  for (int round = 0; round != 20; ++round) {
    weft::io_context context;
    weft::cancellation_signal signal;
    std::atomic<bool> emitting{false};
    std::atomic<bool> claimed{false};
    std::atomic<bool> returned{false};
    bool returned_before_the_claim = false;
    std::jthread other;
    const auto take = [&] {
      other = std::jthread([&] {
        emitting = true;
        signal.emit(weft::cancellation_type::terminal);
        returned_before_the_claim = !claimed;
        returned = true;
      });
      while (!emitting)
        std::this_thread::yield();
      for (int i = 0; i != 1000 && !returned; ++i)
        std::this_thread::yield();
      claimed = true;
      return 0;
    };
    int cancels = 0;
    start(context, weft::bind_cancellation_slot(signal.slot(), [](int) {}), take,
          [&] { ++cancels; });
    context.run();
    other.join();
    EXPECT_FALSE(returned_before_the_claim);
    EXPECT_EQ(cancels, 0);
  }
}

TEST(handler_operation, an_emission_before_the_claim_reaches_the_operation) {
  weft::io_context context;
  manual_context other;
  weft::cancellation_signal signal;
  int cancels = 0;
  start(context,
        weft::bind_executor(other.get_executor(),
                            weft::bind_cancellation_slot(signal.slot(), [](int) {})),
        {}, [&] { ++cancels; });
  context.run();  // it is queued with its executor
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(cancels, 1);
  other.run();
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(cancels, 1);
}

// ---- an executor that refuses

/// Each kind of executor behind which a submission to a manual_context can fail.
struct property_executor {
  static auto of(manual_context& c) { return c.get_executor(); }
};
struct wrapped_executor {
  static auto of(manual_context& c) { return weft::any_io_executor(c.get_executor()); }
};
struct ts_executor {
  static auto of(manual_context& c) { return weft_test::ts_executor(c); }
};
struct wrapped_ts_executor {
  static auto of(manual_context& c) { return weft::executor(weft_test::ts_executor(c)); }
};
struct strand_executor {
  static auto of(manual_context& c) { return weft::make_strand(c.get_executor()); }
};
struct wrapped_strand_executor {
  static auto of(manual_context& c) {
    return weft::any_io_executor(weft::make_strand(weft::any_io_executor(c.get_executor())));
  }
};

template <class Kind>
class refusing_executor : public ::testing::Test {
 protected:
  weft::io_context context;
  manual_context other;
  ending_handler::counts counts;
};
using every_kind = ::testing::Types<property_executor, wrapped_executor, ts_executor,
                                    wrapped_ts_executor, strand_executor, wrapped_strand_executor>;
TYPED_TEST_SUITE(refusing_executor, every_kind);

TYPED_TEST(refusing_executor, is_asked_again_when_run_is_called_again) {
  start(this->context,
        weft::bind_executor(TypeParam::of(this->other), ending_handler(this->counts)));
  this->other.fail_submissions(2);
  for (int i = 0; i != 2; ++i) {
    EXPECT_THROW(this->context.run(), std::bad_alloc);
    EXPECT_EQ(this->counts.called + this->counts.dropped, 0);
  }
  EXPECT_EQ(this->context.run(), 1u);
  EXPECT_EQ(this->counts.called, 0);
  this->other.run();
  EXPECT_EQ(this->counts.called, 1);
  EXPECT_EQ(this->counts.dropped, 0);
  EXPECT_EQ(this->other.work(), 0);
}

TYPED_TEST(refusing_executor, loses_neither_memory_nor_handler_when_the_context_goes) {
  allocation_counts memory;
  {
    weft::io_context gone;
    start(gone, weft::bind_executor(TypeParam::of(this->other),
                                    weft::bind_allocator(counting_allocator<void>(memory),
                                                         ending_handler(this->counts))));
    this->other.fail_submissions(1);
    EXPECT_THROW(gone.run(), std::bad_alloc);
  }
  EXPECT_EQ(this->counts.called, 0);
  EXPECT_EQ(this->counts.dropped, 1);
  EXPECT_EQ(memory.blocks, 0u);
  EXPECT_EQ(this->other.work(), 0);
}

TYPED_TEST(refusing_executor, is_asked_again_by_the_context_if_it_refused_an_immediate_completion) {
  finish_at_once(this->context,
                 weft::bind_immediate_executor(weft::inline_executor(),
                                               weft::bind_executor(TypeParam::of(this->other),
                                                                   ending_handler(this->counts))));
  this->other.run();
  EXPECT_EQ(this->counts.called, 1);

  this->other.fail_submissions(1);
  finish_at_once(this->context,
                 weft::bind_immediate_executor(weft::inline_executor(),
                                               weft::bind_executor(TypeParam::of(this->other),
                                                                   ending_handler(this->counts))));
  EXPECT_EQ(this->counts.dropped, 0);
  this->context.restart();
  this->context.run();
  this->other.run();
  EXPECT_EQ(this->counts.called, 2);
  EXPECT_EQ(this->counts.dropped, 0);
}

TYPED_TEST(refusing_executor, as_immediate_executor_leaves_the_completion_to_the_context) {
  this->other.fail_submissions(1);
  finish_at_once(this->context, weft::bind_immediate_executor(TypeParam::of(this->other),
                                                              ending_handler(this->counts)));
  EXPECT_EQ(this->counts.called + this->counts.dropped, 0);
  EXPECT_EQ(this->context.run(), 1u);
  EXPECT_EQ(this->counts.called, 1);
}

/// Destroys what it is given, and says nothing.
struct dropping_executor {
  manual_context* context;
  manual_context& query(weft::execution::context_t) const noexcept { return *context; }
  template <class Function>
  void execute(Function f) const {
    const Function dropped(std::move(f));
  }
  bool operator==(const dropping_executor&) const noexcept = default;
};

TEST(handler_operation, what_an_executor_drops_is_destroyed_uncalled) {
  weft::io_context context;
  manual_context other;
  ending_handler::counts counts;
  start(context, weft::bind_executor(dropping_executor{&other}, ending_handler(counts)));
  EXPECT_EQ(context.run(), 1u);
  EXPECT_EQ(counts.called, 0);
  EXPECT_EQ(counts.dropped, 1);
}

/// Calls what it is given, then throws.
struct late_throwing_executor : dropping_executor {
  template <class Function>
  void execute(Function f) const {
    f();
    throw std::logic_error("late");
  }
};

TEST(handler_operation, what_an_executor_has_called_is_not_called_again_if_it_throws) {
  weft::io_context context;
  manual_context other;
  ending_handler::counts counts;
  start(context, weft::bind_executor(late_throwing_executor{{&other}}, ending_handler(counts)));
  EXPECT_THROW(context.run(), std::logic_error);
  EXPECT_EQ(context.run(), 0u);
  EXPECT_EQ(counts.called, 1);
  EXPECT_EQ(counts.dropped, 0);
}

// ---- memory

template <class Executor>
void expect_one_block(weft::io_context& context, const Executor& ex, std::function<void()> run) {
  allocation_counts memory;
  std::size_t blocks = 1;
  start(context,
        weft::bind_executor(ex, weft::bind_allocator(counting_allocator<void>(memory),
                                                     [&](int) { blocks = memory.blocks; })));
  memory.fail_after = 0;
  run();
  EXPECT_EQ(memory.allocations, 1u);
  EXPECT_EQ(blocks, 0u);
}

TEST(handler_operation, on_its_way_to_a_foreign_executor_of_wefts_it_needs_no_memory) {
  weft::io_context context;
  weft::io_context other;
  const auto run = [&] {
    context.restart();
    other.restart();
    context.run();
    other.run();
  };
  expect_one_block(context, other.get_executor(), run);
  expect_one_block(context, weft::any_io_executor(other.get_executor()), run);
  expect_one_block(context, weft::make_strand(other), run);
  expect_one_block(context, weft::any_io_executor(weft::make_strand(other)), run);
  expect_one_block(context, weft::make_strand(context), run);
  expect_one_block(context, weft::executor(other.get_executor()), run);
  weft::thread_pool pool(1);
  expect_one_block(context, pool.get_executor(), [&] {
    run();
    pool.join();
  });
}

/// A handler whose moves throw while they are to.
class heavy_handler {
 public:
  heavy_handler(bool& throws, int& calls) : throws_(&throws), calls_(&calls) {}
  heavy_handler(heavy_handler&& other) : throws_(other.throws_), calls_(other.calls_) {
    if (*throws_)
      throw std::runtime_error("too heavy");
  }
  void operator()(weft::error_code ec) const {
    EXPECT_FALSE(ec);
    ++*calls_;
  }

 private:
  bool* throws_;
  int* calls_;
};

TEST(handler_operation, a_handler_whose_move_throws_keeps_what_it_is_to_be_given) {
  weft::io_context context;
  weft::async_mutex mutex(context);
  bool throws = false;
  int calls = 0;
  ASSERT_TRUE(mutex.try_lock());
  mutex.async_lock(heavy_handler(throws, calls));
  mutex.unlock();
  throws = true;
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_FALSE(mutex.try_lock()) << "it has been granted";
  throws = false;
  context.run();
  EXPECT_EQ(calls, 1);
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
}

}  // namespace
