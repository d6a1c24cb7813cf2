// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/append.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/compose.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"

// Executors as many are written: functions are copied into std::function, which asks that they can
// be copied.
namespace {

using namespace std::chrono_literals;
using weft::bind_executor;
using weft::error_code;

struct function_queue {
  std::vector<std::function<void()>> functions;
  bool refuses = false;

  /// Runs what is queued, each one as a copy of what the queue goes on holding.
  int drain() {
    auto taken = std::exchange(functions, {});
    const int n = static_cast<int>(taken.size());
    for (auto f : taken)
      f();
    return n;
  }
  template <class Function>
  void push(const Function& f) {
    if (refuses)
      throw std::runtime_error("full");
    functions.push_back(std::function<void()>(f));
  }
};

/// In the style of properties.
struct queue_executor {
  weft::io_context* context;
  function_queue* queue;

  weft::execution_context& query(weft::execution::context_t) const noexcept { return *context; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class Function>
  void execute(Function f) const {
    queue->push(f);
  }
  bool operator==(const queue_executor&) const noexcept = default;
};

/// In the style of the Networking TS.
struct ts_queue_executor {
  weft::io_context* io;
  function_queue* queue;

  weft::execution_context& context() const noexcept { return *io; }
  void on_work_started() const noexcept {}
  void on_work_finished() const noexcept {}
  template <class Function, class Allocator>
  void dispatch(const Function& f, const Allocator&) const {
    queue->push(f);
  }
  template <class Function, class Allocator>
  void post(const Function& f, const Allocator&) const {
    queue->push(f);
  }
  template <class Function, class Allocator>
  void defer(const Function& f, const Allocator&) const {
    queue->push(f);
  }
  bool operator==(const ts_queue_executor&) const noexcept = default;
};

class function_executor : public weft_test::backend_test {
 protected:
  /// Runs the queue and the context until there is nothing more in either.
  void run() {
    do
      context.restart();
    while (queue.drain() || context.run_one());
  }

  template <class Executor>
  void everything_completes_by_way_of(const Executor& ex) {
    weft::steady_timer timer(context, 0s);
    weft::readable_pipe in(context);
    weft::writable_pipe out(context);
    weft::connect_pipe(in, out);
    int calls = 0;
    auto count = [&](auto&&...) { ++calls; };
    const auto counts = [&](auto&& start) {
      calls = 0;
      start();
      while (queue.functions.empty()) {
        context.restart();
        ASSERT_EQ(context.run_one(), 1u);
      }
      EXPECT_EQ(calls, 0);
      run();
      EXPECT_EQ(calls, 1);
    };
    std::string text(4, '-');
    counts([&] { timer.async_wait(bind_executor(ex, count)); });
    counts([&] { timer.async_wait(bind_executor(ex, weft::append(count, 1))); });
    counts([&] { timer.async_wait(weft::cancel_after(1h, bind_executor(ex, count))); });
    counts([&] { timer.async_wait(bind_executor(weft::make_strand(ex), count)); });
    counts([&] { out.async_write_some(weft::buffer("ab", 2), bind_executor(ex, count)); });
    counts([&] { weft::async_write(out, weft::buffer("cd", 2), bind_executor(ex, count)); });
    counts([&] { in.async_read_some(weft::buffer(text.data(), 1), bind_executor(ex, count)); });
    counts(
        [&] { weft::async_read(in, weft::buffer(text.data() + 1, 3), bind_executor(ex, count)); });
    EXPECT_EQ(text, "abcd");
    counts([&] { weft::async_read(in, weft::buffer(text, 0), bind_executor(ex, count)); });
    counts([&] {
      auto bound = bind_executor(ex, count);
      weft::async_compose<decltype(bound)&, void(int)>([](auto& self) { self.complete(1); }, bound,
                                                       context);
    });
    counts([&] { weft::post(ex, count); });
    counts([&] { weft::dispatch(ex, count); });
    counts([&] { weft::post(context, bind_executor(ex, count)); });
    counts([&] { weft::post(weft::make_strand(ex), count); });
    counts([&] {
      timer.async_wait(
          bind_executor(ex, [&, p = std::make_unique<int>(1)](error_code) { calls += *p; }));
    });
    auto future = timer.async_wait(bind_executor(ex, weft::use_future));
    run();
    EXPECT_EQ(future.wait_for(0s), std::future_status::ready);
  }

  function_queue queue;
};

TEST_P(function_executor, of_properties_serves_every_operation) {
  everything_completes_by_way_of(queue_executor{&context, &queue});
}

TEST_P(function_executor, of_the_networking_ts_serves_every_operation) {
  everything_completes_by_way_of(ts_queue_executor{&context, &queue});
}

TEST_P(function_executor, behind_a_polymorphic_one_serves_every_operation) {
  everything_completes_by_way_of(weft::any_io_executor(queue_executor{&context, &queue}));
}

TEST_P(function_executor, that_drops_its_functions_destroys_the_handlers_uncalled) {
  weft::steady_timer timer(context, 0s);
  auto alive = std::make_shared<int>(0);
  timer.async_wait(
      bind_executor(queue_executor{&context, &queue}, [alive](error_code) { ++*alive; }));
  context.run();
  ASSERT_EQ(queue.functions.size(), 1u);
  EXPECT_EQ(alive.use_count(), 2);
  queue.functions.clear();
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(*alive, 0);
}

TEST_P(function_executor, that_refuses_once_is_offered_the_operation_again) {
  weft::steady_timer timer(context, 0s);
  int calls = 0;
  timer.async_wait(bind_executor(queue_executor{&context, &queue}, [&](error_code) { ++calls; }));
  queue.refuses = true;
  EXPECT_THROW(context.run(), std::runtime_error);
  queue.refuses = false;
  run();
  EXPECT_EQ(calls, 1);
}

WEFT_INSTANTIATE_BACKENDS(function_executor);

}  // namespace
