// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/sync/as_future.hpp>

#include "support/misuse.hpp"
#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using namespace std::chrono_literals;
using weft::async;
using weft::error_code;
using weft::future;
using weft::io_context;
using weft::promise;
using weft::shared_future;
using weft::thread_pool;
using weft_test::expect_assertion;

bool says(const std::exception_ptr& e, const error_code& code) {
  if (!e)
    return false;
  try {
    std::rethrow_exception(e);
  } catch (const weft::system_error& error) {
    return error.code() == code;
  } catch (const std::future_error& error) {
    return error.code() == code;
  } catch (...) {
    return false;
  }
}
template <class F>
std::exception_ptr thrown_by(F f) {
  try {
    f();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
const error_code broken = std::make_error_code(std::future_errc::broken_promise);
const error_code retrieved = std::make_error_code(std::future_errc::future_already_retrieved);
const error_code aborted = weft::error::operation_aborted;

// ---- promise and future

TEST(future, has_what_the_promise_was_given) {
  promise<int> p;
  future<int> f = p.get_future();
  EXPECT_TRUE(f.valid());
  EXPECT_FALSE(f.is_ready());
  EXPECT_EQ(f.wait_for(0s), std::future_status::timeout);
  p.set_value(7);
  EXPECT_TRUE(f.is_ready());
  EXPECT_EQ(f.wait_for(0s), std::future_status::ready);
  EXPECT_EQ(f.get(), 7);
  EXPECT_FALSE(f.valid());
  EXPECT_THROW(f.get(), std::future_error);
}

TEST(future, carries_nothing_references_and_what_only_moves) {
  promise<void> nothing;
  auto n = nothing.get_future();
  nothing.set_value();
  n.get();

  int object = 1;
  promise<int&> reference;
  auto r = reference.get_future();
  reference.set_value(object);
  EXPECT_EQ(&r.get(), &object);

  promise<std::unique_ptr<int>> moved;
  auto m = moved.get_future();
  moved.set_value(std::make_unique<int>(3));
  EXPECT_EQ(*m.get(), 3);

  struct no_default {
    explicit no_default(int v) : value(v) {}
    int value;
  };
  promise<no_default> made_in_place;
  auto d = made_in_place.get_future();
  made_in_place.set_value(4);
  EXPECT_EQ(d.get().value, 4);

  EXPECT_EQ(weft::make_ready_future(std::string("x")).get(), "x");
  EXPECT_TRUE(weft::make_ready_future().is_ready());
}

TEST(future, throws_what_the_promise_was_given) {
  promise<int> p;
  auto f = p.get_future();
  p.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST(future, a_promise_that_is_destroyed_is_broken) {
  std::optional<promise<int>> p(std::in_place);
  auto f = p->get_future();
  p.reset();
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), broken));
}

TEST(promise, is_satisfied_once_and_has_one_future) {
  promise<int> p;
  auto f = p.get_future();
  EXPECT_TRUE(says(thrown_by([&] { p.get_future(); }), retrieved));
  p.set_value(1);
  EXPECT_THROW(p.set_value(2), std::future_error);
  EXPECT_THROW(p.set_exception(std::make_exception_ptr(1)), std::future_error);
  promise<int> other(std::move(p));
  EXPECT_THROW(p.set_value(2), std::future_error);
  EXPECT_EQ(f.get(), 1);
}

TEST(promise, without_a_future_keeps_nothing) {
  const auto object = std::make_shared<int>(1);
  {
    promise<std::shared_ptr<int>> p;
    p.set_value(object);
    EXPECT_EQ(object.use_count(), 2);
  }
  EXPECT_EQ(object.use_count(), 1);
  promise<int> assigned;
  assigned = promise<int>();
  auto f = assigned.get_future();
  assigned.set_value(2);
  EXPECT_EQ(f.get(), 2);
}

// ---- async

TEST(async, posts_the_function_and_has_what_it_returns) {
  io_context context;
  bool ran = false;
  future<int> f = async(context, [&] {
    ran = true;
    return 5;
  });
  EXPECT_FALSE(ran);
  context.run();
  EXPECT_TRUE(f.is_ready());
  EXPECT_EQ(f.get(), 5);
}

TEST(async, keeps_decayed_arguments) {
  io_context context;
  std::string text = "abc";
  auto f = async(
      context, [](std::string a, std::unique_ptr<int> b) { return a + std::to_string(*b); }, text,
      std::make_unique<int>(4));
  text = "changed";
  context.run();
  EXPECT_EQ(f.get(), "abc4");
  auto nothing = async(context.get_executor(), [] {});
  context.restart();
  context.run();
  nothing.get();
}

TEST(async, has_what_the_function_throws) {
  io_context context;
  auto f = async(context, []() -> int { throw std::runtime_error("no"); });
  EXPECT_EQ(context.run(), 1u);
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST(async, serves_every_executor) {
  io_context context;
  thread_pool pool(1);
  auto strand = weft::make_strand(context);
  weft_test::manual_context manual;
  auto in_strand = async(strand, [&] { return strand.running_in_this_thread(); });
  auto in_any = async(weft::any_io_executor(context.get_executor()), [] { return 2; });
  auto in_any_strand = async(weft::any_io_executor(strand), [] { return 3; });
  auto in_manual = async(manual.get_executor(), [] { return 4; });
  auto in_ts = async(weft_test::ts_executor(manual), [] { return 5; });
  context.run();
  manual.run();
  EXPECT_TRUE(in_strand.get());
  EXPECT_EQ(in_any.get(), 2);
  EXPECT_EQ(in_any_strand.get(), 3);
  EXPECT_EQ(in_manual.get(), 4);
  EXPECT_EQ(in_ts.get(), 5);
  EXPECT_EQ(async(pool, [] { return 6; }).get(), 6) << "blocks, in a thread without a loop";
  EXPECT_EQ(async(weft::system_executor(), [] { return 7; }).get(), 7);
}

TEST(async, throws_what_an_executor_throws_and_keeps_nothing) {
  weft_test::manual_context manual;
  manual.fail_submissions(1);
  const auto object = std::make_shared<int>(1);
  EXPECT_THROW(async(manual.get_executor(), [object] { return *object; }), std::bad_alloc);
  EXPECT_EQ(object.use_count(), 1);
}

TEST(async, a_context_that_is_destroyed_breaks_the_promise) {
  future<int> f;
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    f = async(context, [object] { return *object; });
  }
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), broken));
  EXPECT_EQ(object.use_count(), 1);
}

TEST(async, destroys_the_function_before_anyone_is_told) {
  io_context context;
  const auto object = std::make_shared<int>(1);
  long uses = 0;
  async(context, [object] { return *object; }).attach_callback([&](future<int>) {
    uses = object.use_count();
  });
  context.run();
  EXPECT_EQ(uses, 1);
}

TEST(async, a_request_to_cancel_keeps_a_function_from_being_called) {
  io_context context;
  bool ran = false;
  auto f = async(context, [&] { ran = true; });
  f.request_cancel();
  context.run();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), aborted));
}

TEST(async, a_request_to_cancel_comes_too_late_for_what_has_begun) {
  io_context context;
  future<int> f;
  f = async(context, [&] {
    f.request_cancel();
    return 3;
  });
  context.run();
  f.request_cancel();
  EXPECT_EQ(f.get(), 3);
}

// ---- callbacks

TEST(attach_callback, runs_on_the_loop_with_the_ready_future) {
  io_context context;
  std::vector<int> seen;
  async(context, [] { return 1; }).attach_callback([&](future<int> f) { seen.push_back(f.get()); });
  async(context, []() -> int {
    throw std::runtime_error("no");
  }).attach_callback([&](future<int> f) { EXPECT_THROW(f.get(), std::runtime_error); });
  context.run();
  EXPECT_EQ(seen, std::vector<int>{1});
}

TEST(attach_callback, is_never_called_inside) {
  io_context context;
  bool called = false;
  promise<int> p(context);
  auto f = p.get_future();
  p.set_value(1);
  f.attach_callback([&](future<int>) { called = true; });
  EXPECT_FALSE(called);
  EXPECT_FALSE(f.valid());
  context.run();
  EXPECT_TRUE(called);

  promise<int> later(context);
  later.get_future().attach_callback([&](future<int>) { called = false; });
  later.set_value(2);
  EXPECT_TRUE(called);
  context.restart();
  context.run();
  EXPECT_FALSE(called);
}

TEST(attach_callback, runs_in_the_executor_that_it_names) {
  io_context producer;
  io_context consumer;
  auto strand = weft::make_strand(consumer);
  weft_test::manual_context manual;
  int called = 0;
  const auto check = [&](future<int> f) { called += f.get(); };
  async(producer, [] { return 1; }).attach_callback(consumer, check);
  async(producer, [] { return 10; }).attach_callback(strand, [&](future<int> f) {
    EXPECT_TRUE(strand.running_in_this_thread());
    check(std::move(f));
  });
  async(producer, [] { return 100; }).attach_callback(manual.get_executor(), check);
  producer.run();
  EXPECT_EQ(called, 0);
  consumer.run();
  EXPECT_EQ(called, 11);
  std::vector<std::thread> helpers;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (called != 111 && std::chrono::steady_clock::now() < limit) {
    manual.run();
    std::this_thread::yield();
  }
  EXPECT_EQ(called, 111);
}

TEST(attach_callback, what_waits_keeps_its_loop_running) {
  io_context context;
  promise<int> p;
  int seen = 0;
  p.get_future().attach_callback(context, [&](future<int> f) { seen = f.get(); });
  std::thread other([&] { p.set_value(4); });
  context.run();
  EXPECT_EQ(seen, 4);
  other.join();
}

TEST(attach_callback, without_an_executor_runs_in_the_system_executor) {
  promise<int> p;
  promise<std::thread::id> told;
  auto where = told.get_future();
  p.get_future().attach_callback(
      [t = std::move(told)](future<int>) mutable { t.set_value(std::this_thread::get_id()); });
  p.set_value(1);
  EXPECT_NE(where.get(), std::this_thread::get_id());
}

TEST(attach_callback, what_it_throws_leaves_run) {
  io_context context;
  async(context, [] {}).attach_callback([](future<void>) { throw std::runtime_error("out"); });
  EXPECT_THROW(context.run(), std::runtime_error);
}

TEST(attach_callback, takes_its_memory_from_the_functions_allocator_and_fails_with_it) {
  io_context context;
  weft_test::allocation_counts counts;
  const weft_test::counting_allocator<void> allocator(counts);
  int seen = 0;
  auto f = async(context, [] { return 9; });
  counts.fail_after = 0;
  EXPECT_THROW(
      f.attach_callback(weft::bind_allocator(allocator, [&](future<int> r) { seen = r.get(); })),
      std::bad_alloc);
  ASSERT_TRUE(f.valid()) << "the result is lost with the callback";
  counts.fail_after = -1;
  f.attach_callback(weft::bind_allocator(allocator, [&](future<int> r) {
    EXPECT_EQ(counts.blocks, 0u);
    seen = r.get();
  }));
  EXPECT_EQ(counts.blocks, 1u);
  context.run();
  EXPECT_EQ(seen, 9);
}

/// A function whose n-th move throws.
class unruly {
 public:
  explicit unruly(int moves_until_throw) : left_(moves_until_throw) {}
  unruly(unruly&& other) : left_(other.left_ - 1) {
    if (left_ == 0)
      throw std::runtime_error("no move");
  }
  void operator()(future<std::string>) const {}

 private:
  int left_;
};

TEST(attach_callback, what_moving_the_function_throws_leaves_the_result) {
  io_context context;
  int thrown = 0;
  for (int n = 1; n != 4; ++n) {
    auto f = weft::make_ready_future(std::string("kept"));
    try {
      f.attach_callback(context, unruly(n));
    } catch (const std::runtime_error&) {
      ++thrown;
      EXPECT_EQ(f.get(), "kept") << "after " << n;
    }
  }
  EXPECT_GT(thrown, 0);
}

TEST(attach_callback, runs_on_the_system_executor_where_the_promises_is_empty) {
  promise<int> p(weft::any_io_executor{});
  std::promise<int> called;
  p.get_future().attach_callback([&](future<int> f) { called.set_value(f.get()); });
  p.set_value(3);
  EXPECT_EQ(called.get_future().get(), 3);
}

TEST(attach_callback, one_at_a_time_waits) {
  io_context context;
  promise<int> p(context);
  auto f = p.get_future();
  error_code first;
  error_code second;
  f.async_wait([&](error_code ec) { first = ec; });
  f.async_wait([&](error_code ec) { second = ec; });
  EXPECT_TRUE(says(thrown_by([&] { f.attach_callback([](future<int>) {}); }), retrieved));
  EXPECT_TRUE(f.valid());
  p.set_value(1);
  context.run();
  EXPECT_FALSE(first);
  EXPECT_EQ(second, retrieved);
  EXPECT_EQ(f.get(), 1);
}

// ---- then

TEST(then, has_what_the_function_makes_of_the_result) {
  io_context context;
  auto f = async(context, [] {
             return 2;
           }).then([](future<int> r) {
               return r.get() * 10;
             }).then(context, [](future<int> r) { return std::to_string(r.get()); });
  context.run();
  EXPECT_EQ(f.get(), "20");
}

TEST(then, has_what_the_function_throws) {
  io_context context;
  auto f = async(context, []() -> int {
             throw std::runtime_error("first");
           }).then([](future<int> r) {
               r.get();
             }).then([](future<void> r) {
    EXPECT_THROW(r.get(), std::runtime_error);
    throw std::logic_error("second");
  });
  context.run();
  EXPECT_THROW(f.get(), std::logic_error);
}

TEST(then, a_future_that_the_function_returns_is_waited_for) {
  io_context context;
  promise<int> inner;
  auto f = async(context, [] {}).then([&](future<void>) { return inner.get_future(); });
  static_assert(std::is_same_v<decltype(f), future<int>>);
  context.poll();
  EXPECT_FALSE(f.is_ready());
  inner.set_value(6);
  context.run();
  EXPECT_EQ(f.get(), 6);

  auto invalid = async(context, [] {}).then([](future<void>) { return future<int>(); });
  context.restart();
  context.run();
  EXPECT_THROW(invalid.get(), std::future_error);
}

TEST(then, a_loop_of_futures_does_not_grow_the_stack) {
  io_context context;
  struct loop {
    static future<int> count(io_context& c, int n) {
      return async(c, [n] { return n; }).then([&c](future<int> r) {
        const int left = r.get();
        return left == 0 ? weft::make_ready_future(7) : count(c, left - 1);
      });
    }
  };
  auto f = loop::count(context, 20'000);
  context.run();
  EXPECT_EQ(f.get(), 7);
}

TEST(then, a_function_destroyed_with_its_context_breaks_the_promise) {
  future<int> f;
  promise<int> p;
  {
    io_context context;
    f = p.get_future().then(context, [](future<int> r) { return r.get(); });
  }
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), broken));
  p.set_value(1);
}

TEST(then, a_request_to_cancel_reaches_the_source) {
  io_context context;
  promise<int> p(context);
  bool called = false;
  auto f = p.get_future().then([&](future<int>) { called = true; });
  EXPECT_FALSE(p.is_cancelled());
  f.request_cancel();
  EXPECT_TRUE(p.is_cancelled());
  p.set_value(1);
  context.run();
  EXPECT_FALSE(called);
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), aborted));
}

TEST(then, a_request_to_cancel_reaches_the_inner_future) {
  io_context context;
  promise<int> inner(context);
  auto f = async(context, [] {}).then([&](future<void>) { return inner.get_future(); });
  context.poll();
  f.request_cancel();
  EXPECT_TRUE(inner.is_cancelled());
  inner.set_value(3);
  context.restart();
  context.run();
  EXPECT_EQ(f.get(), 3) << "the producer went on";
}

// ---- cancellation

TEST(promise, tells_of_a_request_to_cancel) {
  promise<int> p;
  auto f = p.get_future();
  int told = 0;
  p.on_cancel([&] { ++told; });
  f.request_cancel();
  EXPECT_EQ(told, 1);
  p.on_cancel([&] { told += 10; });
  EXPECT_EQ(told, 11) << "it had been requested before";
  p.set_value(1);
  f.request_cancel();
  EXPECT_EQ(told, 11);
}

TEST(promise, forgets_who_answers_a_cancellation_when_it_is_satisfied) {
  promise<int> p;
  auto f = p.get_future();
  const auto object = std::make_shared<int>(1);
  p.on_cancel([object] {});
  EXPECT_EQ(object.use_count(), 2);
  p.set_value(1);
  EXPECT_EQ(object.use_count(), 1);
}

TEST(as_future, makes_a_future_of_an_operation_and_cancels_it) {
  io_context context;
  weft::steady_timer timer(context, 1h);
  future<void> f = timer.async_wait(weft::as_future);
  context.poll();
  f.request_cancel();
  context.restart();
  context.run();
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), aborted));

  timer.expires_after(0s);
  error_code seen = aborted;
  timer.async_wait(weft::as_future).attach_callback([&](future<void> r) {
    EXPECT_TRUE(context.get_executor().running_in_this_thread());
    r.get();
    seen = {};
  });
  context.restart();
  context.run();
  EXPECT_FALSE(seen);
}

TEST(as_future, under_a_token_that_adapts_it_has_callbacks_run_in_the_operations_executor) {
  io_context context;
  weft::steady_timer timer(context, 0s);
  weft::cancellation_signal signal;
  bool seen = false;
  timer
      .async_wait(
          weft::cancel_after(1h, weft::bind_cancellation_slot(signal.slot(), weft::as_future)))
      .attach_callback([&](future<void> r) {
        EXPECT_TRUE(context.get_executor().running_in_this_thread());
        r.get();
        seen = true;
      });
  context.run();
  EXPECT_TRUE(seen);
}

TEST(as_future, an_operation_that_ends_with_its_context_breaks_the_promise) {
  future<void> f;
  {
    io_context context;
    weft::steady_timer timer(context, 1h);
    f = timer.async_wait(weft::as_future);
  }
  EXPECT_TRUE(says(thrown_by([&] { f.get(); }), broken));
}

TEST(as_future, has_the_values_after_the_disposition) {
  io_context context;
  auto posted = weft::post(context, weft::as_future);
  static_assert(std::is_same_v<decltype(posted), future<void>>);
  weft::promise<int> p(context);
  future<int> f = p.get_future().async_get(weft::as_future);
  p.set_value(5);
  context.run();
  posted.get();
  EXPECT_EQ(f.get(), 5);
}

// ---- waiting without blocking

TEST(async_wait, leaves_the_result_where_it_is) {
  io_context context;
  promise<int> p(context);
  auto f = p.get_future();
  error_code seen = aborted;
  f.async_wait([&](error_code ec) { seen = ec; });
  p.set_value(8);
  EXPECT_EQ(seen, aborted) << "called inside";
  context.run();
  EXPECT_FALSE(seen);
  EXPECT_EQ(f.get(), 8);
}

TEST(async_wait, is_cancelled_before_during_and_after) {
  io_context context;
  weft::cancellation_signal signal;
  promise<int> p(context);
  auto f = p.get_future();
  error_code seen;
  int calls = 0;
  const auto wait = [&] {
    f.async_wait(weft::bind_cancellation_slot(signal.slot(), [&](error_code ec) {
      seen = ec;
      ++calls;
    }));
  };
  signal.emit(weft::cancellation_type::all);  // nobody hears it
  wait();
  signal.emit(weft::cancellation_type::total);
  context.run();
  EXPECT_EQ(seen, aborted);
  wait();
  p.set_value(2);
  signal.emit(weft::cancellation_type::all);  // its result is on its way
  context.restart();
  context.run();
  EXPECT_FALSE(seen);
  signal.emit(weft::cancellation_type::all);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(f.get(), 2) << "a cancelled wait took the result";
}

TEST(async_get, gives_the_value_or_the_exception) {
  io_context context;
  int seen = 0;
  promise<int> p(context);
  p.get_future().async_get([&](std::exception_ptr e, int v) {
    EXPECT_FALSE(e);
    seen = v;
  });
  p.set_value(3);
  promise<void> fails(context);
  std::exception_ptr error;
  fails.get_future()([&](std::exception_ptr e) { error = e; });
  fails.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  int object = 0;
  int* pointer = nullptr;
  promise<int&> reference(context);
  reference.get_future().async_get([&](std::exception_ptr, int* r) { pointer = r; });
  reference.set_value(object);
  context.run();
  EXPECT_EQ(seen, 3);
  EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
  EXPECT_EQ(pointer, &object);
}

TEST(async_get, is_cancelled_with_an_exception) {
  io_context context;
  weft::cancellation_signal signal;
  promise<int> p(context);
  std::exception_ptr error;
  p.get_future().async_get(
      weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int) { error = e; }));
  signal.emit(weft::cancellation_type::terminal);
  p.set_value(1);
  context.run();
  EXPECT_TRUE(says(error, aborted));
}

TEST(async_wait, completes_in_the_executor_of_its_handler) {
  io_context producer;
  io_context consumer;
  auto strand = weft::make_strand(consumer);
  promise<int> p(producer);
  auto f = p.get_future();
  bool called = false;
  f.async_wait(weft::bind_executor(strand, [&](error_code) {
    EXPECT_TRUE(strand.running_in_this_thread());
    called = true;
  }));
  p.set_value(1);
  std::thread other([&] { producer.run(); });
  consumer.run();
  other.join();
  consumer.restart();
  consumer.run();
  EXPECT_TRUE(called);
}

// ---- destruction

TEST(future, a_context_is_destroyed_with_waits_of_every_kind_pending) {
  const auto object = std::make_shared<int>(1);
  promise<int> callback;
  promise<int> wait;
  promise<int> get;
  promise<int> shared;
  auto f = wait.get_future();
  auto s = shared.get_future().share();
  {
    io_context context;
    callback.get_future().attach_callback(context, [object](future<int>) { ADD_FAILURE(); });
    f.async_wait(
        weft::bind_executor(context.get_executor(), [object](error_code) { ADD_FAILURE(); }));
    get.get_future().async_get(weft::bind_executor(
        context.get_executor(), [object](std::exception_ptr, int) { ADD_FAILURE(); }));
    s.async_wait(
        weft::bind_executor(context.get_executor(), [object](error_code) { ADD_FAILURE(); }));
    EXPECT_EQ(object.use_count(), 5);
  }
  EXPECT_EQ(object.use_count(), 1);
  callback.set_value(1);
  wait.set_value(2);
  get.set_value(3);
  shared.set_value(4);
  EXPECT_EQ(f.get(), 2);
  EXPECT_EQ(s.get(), 4);
}

TEST(future, a_context_is_destroyed_by_what_a_waiting_handler_owns) {
  promise<int> p;
  auto context = std::make_unique<io_context>();
  auto inner = std::make_shared<promise<int>>();
  auto f = inner->get_future();
  p.get_future().attach_callback(*context, [inner](future<int>) {});
  f.attach_callback(*context, [](future<int>) { ADD_FAILURE(); });
  inner.reset();
  context
      .reset();  // destroys the first callback, which breaks the promise that the second waits for
  p.set_value(1);
}

TEST(future, a_context_is_destroyed_beside_the_thread_that_sets_the_value) {
  for (int round = 0; round != 200; ++round) {
    promise<int> p;
    auto context = std::make_unique<io_context>();
    p.get_future().attach_callback(*context, [](future<int>) {});
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go.load())
        std::this_thread::yield();
      p.set_value(1);
    });
    go = true;
    context.reset();
    other.join();
  }
}

// ---- blocking

TEST(future, get_blocks_until_another_thread_sets_the_value) {
  promise<int> p;
  auto f = p.get_future();
  std::thread other([&] { p.set_value(5); });
  EXPECT_EQ(f.get(), 5);
  other.join();
}

TEST(future, a_timeout_leaves_it_as_it_was) {
  promise<int> p;
  auto f = p.get_future();
  EXPECT_EQ(f.wait_for(1ms), std::future_status::timeout);
  EXPECT_EQ(f.wait_until(std::chrono::system_clock::now() + 1ms), std::future_status::timeout);
  EXPECT_EQ(f.wait_until(std::chrono::steady_clock::now() - 1h), std::future_status::timeout);
  std::thread other([&] { p.set_value(5); });
  EXPECT_EQ(f.wait_for(1h), std::future_status::ready);
  EXPECT_EQ(f.get(), 5);
  other.join();
}

const error_code would_deadlock = weft::error::would_deadlock;

TEST(blocking_get, of_a_thread_whose_result_has_come_is_no_longer_counted) {
  for (int round = 0; round != 100; ++round) {
    io_context context;
    promise<int> first;
    promise<int> second;
    auto of_first = first.get_future();
    auto of_second = second.get_future();
    std::barrier both(2);
    int got = 0;
    weft::post(context, [&] {
      both.arrive_and_wait();
      got += of_first.get();
      second.set_value(20);
    });
    weft::post(context, [&] {
      both.arrive_and_wait();
      first.set_value(1);
      got += of_second.get();
    });
    std::thread other([&] { context.run(); });
    context.run();
    other.join();
    ASSERT_EQ(got, 21) << "round " << round;
  }
}

TEST(future, get_inside_the_loop_that_is_to_produce_it_throws) {
  io_context context;
  auto f = async(context, [] { return 1; });
  bool threw = false;
  weft::post(context, [&] {
    auto later = async(context, [] { return 2; });
    EXPECT_EQ(f.get(), 1) << "it is ready";
    threw = says(thrown_by([&] { later.get(); }), would_deadlock);
    EXPECT_EQ(later.wait_for(0s), std::future_status::timeout);
    EXPECT_TRUE(says(thrown_by([&] { later.wait_for(1s); }), would_deadlock));
    EXPECT_TRUE(later.valid());
  });
  context.run();
  EXPECT_TRUE(threw);
}

TEST(future, get_inside_a_loop_throws_for_strands_and_then_of_that_loop) {
  io_context context;
  auto strand = weft::make_strand(context);
  int threw = 0;
  weft::post(context, [&] {
    promise<void> p;
    auto in_strand = async(strand, [] {});
    auto after = p.get_future().then(context, [](future<void>) {});
    threw += says(thrown_by([&] { in_strand.get(); }), would_deadlock);
    threw += says(thrown_by([&] { after.get(); }), would_deadlock);
    p.set_value();
  });
  context.run();
  EXPECT_EQ(threw, 2);
}

TEST(future, get_of_a_plain_promise_throws_in_a_loop_with_one_thread) {
  io_context context;
  promise<int> p;
  auto f = p.get_future();
  bool threw = false;
  weft::post(context, [&] { threw = says(thrown_by([&] { f.get(); }), would_deadlock); });
  context.run();
  EXPECT_TRUE(threw);
  p.set_value(1);
}

TEST(future, get_of_a_plain_promise_throws_in_the_last_thread_of_a_loop_that_does_not_wait_so) {
  io_context context;
  promise<int> first;
  promise<int> second;
  future<int> awaited = first.get_future();
  future<int> other = second.get_future();
  int seen = 0;
  std::atomic<int> inside = 0;
  const auto with_two_threads = [&] {
    for (++inside; inside != 2;)
      std::this_thread::yield();
  };
  weft::post(context, [&] {
    with_two_threads();
    while (!seen)  // refused while the other thread waits
      thrown_by([&] { seen = awaited.get(); });
  });
  weft::post(context, [&] {
    with_two_threads();
    std::exception_ptr error;
    while (!error)
      error = thrown_by([&] { other.wait_for(1ms); });
    EXPECT_TRUE(says(error, would_deadlock));
    first.set_value(3);
  });
  std::thread thread([&] { context.run(); });
  context.run();
  thread.join();
  EXPECT_EQ(seen, 3);
  second.set_value(4);
  weft::post(context, [&] { EXPECT_EQ(other.get(), 4); });
  context.restart();
  context.run();
}

TEST(as_future, get_inside_the_loop_of_the_operation_throws_beside_a_second_thread_too) {
  io_context context;
  bool threw = false;
  std::atomic<int> inside = 0;
  const auto with_two_threads = [&] {
    for (++inside; inside != 2;)
      std::this_thread::yield();
  };
  weft::post(context, with_two_threads);
  weft::post(context, [&] {
    with_two_threads();
    weft::steady_timer timer(context, 1h);
    auto f = timer.async_wait(weft::as_future);
    threw = says(thrown_by([&] { f.get(); }), would_deadlock);
  });
  std::thread thread([&] { context.run(); });
  context.run();
  thread.join();
  EXPECT_TRUE(threw);
}

TEST(future, get_in_another_loop_blocks_that_one) {
  io_context context;
  thread_pool pool(1);
  int seen = 0;
  weft::post(context, [&] { seen = async(pool, [] { return 4; }).get(); });
  context.run();
  EXPECT_EQ(seen, 4);
}

// ---- shared_future

TEST(shared_future, any_number_wait_in_any_style) {
  io_context context;
  promise<std::string> p(context);
  shared_future<std::string> f = p.get_future();
  const shared_future<std::string> copy = f;
  std::vector<std::string> seen;
  int waits = 0;
  f.attach_callback([&](shared_future<std::string> r) { seen.push_back(r.get()); });
  copy.attach_callback(context, [&](shared_future<std::string> r) { seen.push_back(r.get()); });
  copy.async_get([&](std::exception_ptr e, std::string s) {
    EXPECT_FALSE(e);
    seen.push_back(s);
  });
  f.async_wait([&](error_code ec) { waits += !ec; });
  copy([&](std::exception_ptr, std::string s) { seen.push_back(s); });
  std::string in_thread;
  std::thread other([&] { in_thread = copy.get(); });
  p.set_value("x");
  context.run();
  other.join();
  EXPECT_EQ(seen, (std::vector<std::string>(4, "x")));
  EXPECT_EQ(in_thread, "x");
  EXPECT_EQ(waits, 1);
  f.async_wait([&](error_code ec) { waits += !ec; });
  context.restart();
  context.run();
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(&f.get(), &copy.get());
}

/// A value whose copies throw, if it says so.
struct reluctant {
  reluctant() = default;
  explicit reluctant(bool t) : throws(t) {}
  reluctant(const reluctant& other) : throws(other.throws) {
    if (throws)
      throw std::runtime_error("no copy");
  }
  reluctant(reluctant&&) noexcept = default;
  bool throws = false;
};

TEST(shared_future, what_a_copy_of_the_result_throws_is_the_exception_of_that_wait) {
  io_context context;
  promise<reluctant> p(context);
  const shared_future<reluctant> f = p.get_future();
  std::exception_ptr error;
  f.async_get([&](std::exception_ptr e, const reluctant&) { error = e; });
  p.set_value(true);
  context.run();
  ASSERT_TRUE(error);
  EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
  EXPECT_TRUE(f.get().throws);
}

TEST(shared_future, of_a_future_that_is_ready_and_of_exceptions) {
  auto ready = weft::make_ready_future(3).share();
  EXPECT_EQ(ready.get(), 3);
  promise<int> p;
  auto f = p.get_future().share();
  p.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_THROW(f.get(), std::runtime_error);
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST(shared_future, the_first_to_wait_is_told_first) {
  io_context context;
  promise<int> p(context);
  auto f = p.get_future().share();
  std::vector<int> order;
  for (int i = 0; i != 4; ++i)
    f.async_wait([&order, i](error_code) { order.push_back(i); });
  p.set_value(1);
  context.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

TEST(shared_future, one_wait_is_cancelled_and_the_others_go_on) {
  io_context context;
  promise<int> p(context);
  auto f = p.get_future().share();
  weft::cancellation_signal signals[3];
  std::vector<error_code> seen(3);
  for (int i = 0; i != 3; ++i)
    f.async_wait(weft::bind_cancellation_slot(signals[i].slot(),
                                              [&seen, i](error_code ec) { seen[i] = ec; }));
  signals[1].emit(weft::cancellation_type::all);
  signals[0].emit(weft::cancellation_type::all);
  p.set_value(1);
  signals[2].emit(weft::cancellation_type::all);
  context.run();
  EXPECT_EQ(seen, (std::vector<error_code>{aborted, aborted, error_code()}));
}

// ---- std::future

TEST(std_future, both_ways) {
  thread_pool pool(1);
  std::promise<int> p;
  auto f = weft::from_std_future(pool.get_executor(), p.get_future());
  EXPECT_FALSE(f.is_ready());
  p.set_value(4);
  std::future<int> back = weft::to_std_future(std::move(f));
  EXPECT_EQ(back.get(), 4);

  EXPECT_EQ(weft::to_std_future(weft::make_ready_future(5)).get(), 5);
  promise<void> fails;
  auto failed = weft::to_std_future(fails.get_future());
  fails.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_THROW(failed.get(), std::runtime_error);
  EXPECT_THROW(weft::to_std_future(future<int>()), std::future_error);
}

// ---- threads

TEST(future, values_cross_threads_beside_attaches_cancellations_and_waits) {
  io_context context;
  auto work = weft::make_work_guard(context);
  std::thread loop([&] { context.run(); });
  std::atomic<int> called{0};
  constexpr int rounds = 2'000;
  for (int i = 0; i != rounds; ++i) {
    promise<int> p;
    auto f = p.get_future();
    std::thread producer;
    if (i % 20 == 0)
      producer = std::thread([&] { p.set_value(i); });
    else
      weft::post(context, [q = std::move(p), i]() mutable { q.set_value(i); });
    switch (i % 4) {
      case 0: f.attach_callback(context, [&](future<int>) { ++called; }); break;
      case 1: {
        auto signal = std::make_unique<weft::cancellation_signal>();
        auto& s = *signal;
        promise<void> end;
        auto ended = end.get_future();
        f.async_wait(weft::bind_cancellation_slot(
            s.slot(), weft::bind_executor(context.get_executor(),
                                          [&called, e = std::move(end)](error_code) mutable {
                                            ++called;
                                            e.set_value();
                                          })));
        s.emit(weft::cancellation_type::all);
        ended.get();
        break;
      }
      case 2:
        f.get();
        ++called;
        break;
      default:
        f.wait_for(1us);
        f.request_cancel();
        f.attach_callback(context, [&](future<int>) { ++called; });
    }
    if (producer.joinable())
      producer.join();
  }
  work.reset();
  loop.join();
  EXPECT_EQ(called, rounds);
}

// ---- misuse

TEST(promise_death, it_is_failed_with_an_exception) {
  expect_assertion([] { promise<int>().set_exception(nullptr); },
                   "a promise is failed with an exception");
}

TEST(promise_death, it_is_given_the_outcome_of_what_has_ended) {
  expect_assertion([] { promise<int>().set(weft::outcome<int>()); },
                   "is given the outcome of what has ended");
}

TEST(outcome_death, it_has_no_value_before_the_end) {
  expect_assertion([] { weft::outcome<int>().get(); }, "asked for its outcome");
}

TEST(outcome_death, it_is_set_once) {
  constexpr auto once = "an outcome is set once";
  expect_assertion(
      [] {
        weft::outcome<std::string> o;
        o.set_value("one");
        o.set_value("two");
      },
      once);
  expect_assertion(
      [] {
        weft::outcome<void> o;
        o.set_error(std::make_exception_ptr(1));
        o.set_value();
      },
      once);
  expect_assertion(
      [] {
        int object = 1;
        weft::outcome<int&> o;
        o.set_value(object);
        o.set_value(object);
      },
      once);
  expect_assertion(
      [] {
        weft::outcome<int> o;
        o.set_value(1);
        o.set_error(std::make_exception_ptr(1));
      },
      once);
}

TEST(future_death, what_it_has_returned_is_awaited_once) {
  expect_assertion(
      [] {
        io_context context;
        auto f = weft::make_ready_future(1);
        co_spawn(
            context,
            [&]() -> weft::awaitable<void> {
              auto got = f.async_get();
              co_await std::move(got);
              co_await std::move(got);
            },
            weft::detached);
        context.run();
      },
      "what a future has returned is awaited once");
}

}  // namespace
