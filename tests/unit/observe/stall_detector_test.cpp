// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "context/scheduler/scheduler.hpp"
#include "observe/symbols.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"

namespace {

using namespace std::chrono_literals;
using weft::observe::call_stack;
using weft::observe::stall;
using weft::observe::stall_detector;
using weft::observe::stall_detector_options;

/// Collects what is reported, and lets others wait for it.
class reports {
 public:
  stall_detector::callback collector() {
    return [this](const stall& s) {
      const std::lock_guard lock(mutex_);
      all_.push_back(s);
      came_.notify_all();
    };
  }
  /// The n-th, as soon as it has come.
  stall wait_for(std::size_t n) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return all_.size() >= n; });
    return all_[n - 1];
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<stall> all_;
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != text.npos;
}

bool has_function(const call_stack& stack, const char* part) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](const auto& frame) { return contains(frame.function, part); });
}

/// Blocks until its own stall is reported.
struct handler_that_blocks {
  reports& reported;
  std::size_t n = 1;

  [[gnu::noinline]] void operator()() const { reported.wait_for(n); }
  void operator()(weft::error_code) const { (*this)(); }
};

[[gnu::noinline]] void post_from_here(weft::io_context& context, reports& reported) {
  weft::post(context, handler_that_blocks{reported});
  std::atomic_signal_fence(std::memory_order_seq_cst);  // no tail call
}

[[gnu::noinline]] void wait_from_here(weft::steady_timer& timer, reports& reported) {
  timer.async_wait(
      weft::bind_executor(weft::make_strand(timer.get_executor()), handler_that_blocks{reported}));
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

TEST(stall_detector, a_handler_that_blocks_is_named_with_its_stack_and_its_end_is_told) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, 5ms, reported.collector());
  weft::post(context, handler_that_blocks{reported});
  context.run();

  const stall begun = reported.wait_for(1);
  EXPECT_FALSE(begun.has_ended);
  EXPECT_TRUE(contains(begun.handler, "handler_that_blocks")) << begun.handler;
  EXPECT_EQ(begun.thread, std::this_thread::get_id());
  EXPECT_GE(begun.duration, 5ms);
  EXPECT_TRUE(has_function(begun.stack, "handler_that_blocks::operator()"))
      << to_string(begun.stack);
  EXPECT_TRUE(begun.origin.empty());

  const stall end = reported.wait_for(2);
  EXPECT_TRUE(end.has_ended);
  EXPECT_EQ(end.id, begun.id);
  EXPECT_EQ(end.handler, begun.handler);
  EXPECT_GE(end.duration, begun.duration);
}

TEST(stall_detector, a_system_call_that_the_question_for_the_stack_ends_is_seen_in_it) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, 5ms, reported.collector());
  // The question may come before the call, which then lasts its time.
  bool is_seen = false;
  for (std::size_t n = 1; n != 41 && !is_seen; n += 2) {
    unsigned left = 0;
    weft::post(context, [&] { left = sleep(3); });
    context.restart();
    context.run();
    is_seen = left != 0 && has_function(reported.wait_for(n).stack, "sleep");
    reported.wait_for(n + 1);
  }
  EXPECT_TRUE(is_seen);
}

TEST(stall_detector, each_stall_is_told_once) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, 2ms, reported.collector());
  weft::post(context, handler_that_blocks{reported, 1});
  weft::post(context, [&] {
    reported.wait_for(2);
    handler_that_blocks{reported, 3}();
  });
  context.run();
  EXPECT_TRUE(reported.wait_for(4).has_ended);
  EXPECT_EQ(reported.wait_for(2).id, reported.wait_for(1).id);
  EXPECT_EQ(reported.wait_for(4).id, reported.wait_for(3).id);
  EXPECT_NE(reported.wait_for(3).id, reported.wait_for(1).id);
  EXPECT_EQ(reported.count(), 4u);
}

TEST(stall_detector, the_origin_of_a_posted_handler_is_told) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, {.limit = 5ms, .origins = true}, reported.collector());
  post_from_here(context, reported);
  context.run();
  const call_stack origin = reported.wait_for(1).origin;
  ASSERT_FALSE(origin.empty());
  EXPECT_TRUE(contains(origin[0].function, "post_from_here")) << to_string(origin);
}

TEST(stall_detector, the_origin_of_an_operation_is_where_it_was_started) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, {.limit = 5ms, .origins = true}, reported.collector());
  weft::steady_timer timer(context, 0ms);
  wait_from_here(timer, reported);
  context.run();
  const stall s = reported.wait_for(1);
  ASSERT_FALSE(s.origin.empty());
  EXPECT_TRUE(contains(s.origin[0].function, "wait_from_here")) << to_string(s.origin);
  EXPECT_TRUE(contains(s.handler, "handler_that_blocks")) << s.handler;
}

TEST(stall_detector, an_origin_in_a_function_of_the_standard_library_is_told) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, {.limit = 5ms, .origins = true}, reported.collector());
  // Into whose caller the compiler may inline the lambda.
  weft::post(context,
             std::function<void()>([&] { weft::post(context, handler_that_blocks{reported}); }));
  context.run();
  const call_stack origin = reported.wait_for(1).origin;
  ASSERT_FALSE(origin.empty());
  EXPECT_TRUE(contains(origin[0].function, "TestBody()::")) << to_string(origin);
}

TEST(stall_detector, a_function_of_a_strand_is_named_not_the_strand) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, {.limit = 5ms, .origins = true}, reported.collector());
  const auto strand = weft::make_strand(context);
  weft::post(strand, [] {});
  weft::post(strand, handler_that_blocks{reported});
  context.run();
  const stall s = reported.wait_for(1);
  EXPECT_TRUE(contains(s.handler, "handler_that_blocks")) << s.handler;
  EXPECT_FALSE(s.origin.empty());
}

#if WEFT_TEST_FORKS_OF_THREADS

TEST(stall_detector_fork, a_child_may_have_one_while_other_threads_were_using_theirs) {
  const auto use = [] {
    weft::io_context context;
    const stall_detector detector(context, {.limit = 5ms, .origins = true});
    bool has_run = false;
    for (int i = 0; i != 100; ++i)
      weft::post(context, [&] { has_run = true; });
    context.run();
    return has_run;
  };
  weft_test::expect_success_in_children_meanwhile(use, use);
}

TEST(stall_detector_fork, a_child_may_ask_while_another_thread_was_asking) {
  const auto use = [] {
    weft::io_context context;
    reports reported;
    const stall_detector detector(context, 1ms, reported.collector());
    weft::post(context, handler_that_blocks{reported});
    context.run();
    return true;
  };
  weft_test::expect_success_in_children_meanwhile(use, use);
}

#endif

TEST(stall_detector, it_watches_again_after_all_have_slept) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, 2ms, reported.collector());
  const auto guard = weft::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  for (std::size_t n = 1; n != 9; n += 2) {
    for (;;) {
      const auto workers = weft::observe::metrics(context).workers;
      if (workers.size() == 1 && workers[0].is_asleep)
        break;
      std::this_thread::yield();
    }
    weft::post(context, handler_that_blocks{reported, n});
    EXPECT_TRUE(reported.wait_for(n + 1).has_ended);
  }
  context.stop();
  thread.join();
}

TEST(stall_detector, it_names_the_thread_among_several_that_is_held) {
  weft::thread_pool pool(3);
  reports reported;
  const stall_detector detector(pool, 5ms, reported.collector());
  std::thread::id held;
  weft::post(pool, [&] {
    held = std::this_thread::get_id();
    reported.wait_for(1);
  });
  EXPECT_TRUE(reported.wait_for(2).has_ended);
  EXPECT_EQ(reported.wait_for(1).thread, held);
  pool.join();
}

TEST(stall_detector, without_a_signal_there_is_no_stack) {
  weft::io_context context;
  reports reported;
  const stall_detector detector(context, {.limit = 2ms, .signal_number = -1}, reported.collector());
  weft::post(context, handler_that_blocks{reported});
  context.run();
  EXPECT_TRUE(reported.wait_for(1).stack.empty());
}

TEST(stall_detector, an_impossible_signal_is_an_error) {
  weft::io_context context;
  EXPECT_THROW(stall_detector(context, {.signal_number = SIGKILL}), weft::system_error);
  EXPECT_THROW(stall_detector(context, {.signal_number = 1000}), weft::system_error);
}

TEST(stall_detector, a_signal_whose_default_ends_the_process_is_refused_without_a_handler) {
  weft::io_context context;
  EXPECT_THROW(stall_detector(context, {.signal_number = SIGUSR1}), weft::system_error);
  EXPECT_THROW(stall_detector(context, {.signal_number = SIGTSTP}), weft::system_error);
  EXPECT_THROW(stall_detector(context, {.signal_number = SIGRTMIN}), weft::system_error);
  struct sigaction now{};
  sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  signal(SIGUSR1, SIG_IGN);
  EXPECT_NO_THROW(stall_detector(context, {.signal_number = SIGUSR1}));
  signal(SIGUSR1, SIG_DFL);
}

// ---- the program's own use of the signal

std::atomic<int> own_signals{0};
void count_signal(int) {
  ++own_signals;
}

class stall_detector_signal : public ::testing::Test {
 protected:
  stall_detector_signal() { set(&count_signal); }
  ~stall_detector_signal() override { set(SIG_DFL); }

  static void set(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigaction(SIGURG, &action, nullptr);
  }
  static bool is_own() {
    struct sigaction action{};
    sigaction(SIGURG, nullptr, &action);
    return action.sa_handler == &count_signal;
  }

  weft::io_context context;
  reports reported;
};

TEST_F(stall_detector_signal, the_programs_handler_gets_its_signals_and_is_put_back) {
  own_signals = 0;
  {
    const stall_detector detector(context, 2ms, reported.collector());
    EXPECT_FALSE(is_own());
    raise(SIGURG);
    EXPECT_EQ(own_signals, 1);
    weft::post(context, handler_that_blocks{reported});
    context.run();
    EXPECT_FALSE(reported.wait_for(1).stack.empty());
    EXPECT_EQ(own_signals, 1);
    {
      const stall_detector another(context, 2ms, [](const stall&) {});
    }
    EXPECT_FALSE(is_own());
  }
  EXPECT_TRUE(is_own());
}

TEST_F(stall_detector_signal, a_handler_installed_meanwhile_is_left_alone) {
  own_signals = 0;
  {
    const stall_detector detector(context, 2ms, reported.collector());
    set(&count_signal);
    weft::post(context, handler_that_blocks{reported});
    context.run();
    EXPECT_TRUE(reported.wait_for(1).stack.empty());
    EXPECT_EQ(own_signals, 0);
  }
  EXPECT_TRUE(is_own());
}

/// A handler that blocks the signal until a detector has asked it in vain, and is gone.
class deaf_handler {
 public:
  explicit deaf_handler(weft::io_context& context) : context_(context) {}

  void operator()() const {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    reports reported;
    {
      const stall_detector detector(context_, 2ms, reported.collector());
      EXPECT_TRUE(reported.wait_for(1).stack.empty());
    }
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }

 private:
  weft::io_context& context_;
};

TEST_F(stall_detector_signal, a_question_not_taken_before_the_end_does_not_reach_the_program) {
  own_signals = 0;
  weft::post(context, deaf_handler(context));
  context.run();
  EXPECT_EQ(own_signals, 0);
  raise(SIGURG);
  EXPECT_EQ(own_signals, 1);
  { const stall_detector another(context, 2ms, reported.collector()); }
  EXPECT_TRUE(is_own());
  raise(SIGURG);
  EXPECT_EQ(own_signals, 2);
}

TEST_F(stall_detector_signal, an_ignored_signal_is_so_again_though_a_question_is_not_taken) {
  set(SIG_IGN);
  weft::post(context, deaf_handler(context));
  context.run();
  struct sigaction now{};
  sigaction(SIGURG, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

// ---- what the scheduler tells observers

class told final : public weft::detail::observer {
 public:
  void on_awake() noexcept override { ++times; }
  std::atomic<int> times{0};
};

TEST(observer, is_told_once_when_the_first_worker_wakes) {
  weft::io_context context;
  auto& scheduler = weft::detail::use_scheduler(context);
  told o;
  scheduler.add(o);
  weft::post(context, [] {});
  context.run();
  EXPECT_EQ(o.times, 0);  // it did not ask
  EXPECT_TRUE(scheduler.all_asleep(o));
  for (int i = 0; i != 2; ++i) {
    weft::post(context, [&] { EXPECT_FALSE(scheduler.all_asleep(o)); });
    context.restart();
    context.run();
  }
  EXPECT_EQ(o.times, 1);
  scheduler.remove(o);
}

// ---- names

TEST(symbols, the_name_of_a_type_is_cut_out) {
  EXPECT_EQ(weft::observe::type_name(weft::detail::type_text<int>()), "int");
  EXPECT_TRUE(contains(weft::observe::type_name(weft::detail::type_text<handler_that_blocks>()),
                       "handler_that_blocks"));
  EXPECT_EQ(weft::observe::type_name("something else"), "something else");
}

TEST(symbols, static_functions_are_named_too) {
  weft::observe::symbols names;
  void* const address = reinterpret_cast<void*>(&count_signal);
  const call_stack stack = names.name({&address, 1}, true);
  ASSERT_EQ(stack.size(), 1u);
  EXPECT_TRUE(contains(stack[0].function, "count_signal")) << to_string(stack);
  EXPECT_EQ(stack[0].into, 0u);
  EXPECT_FALSE(stack[0].module.empty());
}

TEST(symbols, an_address_of_nothing_is_told_as_such) {
  weft::observe::symbols names;
  void* const address = reinterpret_cast<void*>(std::uintptr_t(16));
  EXPECT_EQ(to_string(names.name({&address, 1}, true)), "? (0x10)\n");
}

}  // namespace
