// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/io/signal_set.hpp>

#include "support/backend.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"

namespace {

const weft::error_code success;
const weft::error_code aborted = weft::error::operation_aborted;

using flags = weft::signal_set::flags;

struct sigaction disposition(int signal_number) {
  struct sigaction action{};
  ::sigaction(signal_number, nullptr, &action);
  return action;
}

class signal_set_test : public weft_test::backend_test {
 protected:
  using result = std::pair<weft::error_code, int>;
  using result_list = std::vector<result>;

  auto note() {
    return
        [this](weft::error_code ec, int signal_number) { results.emplace_back(ec, signal_number); };
  }
  result_list run() {
    context.restart();
    context.run();
    return std::exchange(results, {});
  }

  result_list results;
};

TEST_P(signal_set_test, a_wait_completes_when_the_signal_is_raised) {
  weft::signal_set signals(context, SIGUSR1);
  signals.async_wait(note());
  context.poll();
  EXPECT_TRUE(results.empty());
  ::raise(SIGUSR1);
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(run(), (result_list{{success, SIGUSR1}}));
}

TEST_P(signal_set_test, a_context_that_sleeps_is_woken) {
  weft::signal_set signals(context, SIGUSR1);
  signals.async_wait(note());
  std::jthread runner([this] { context.run(); });
  ::kill(::getpid(), SIGUSR1);
  runner.join();
  EXPECT_EQ(results, (result_list{{success, SIGUSR1}}));
}

TEST_P(signal_set_test, a_set_without_waits_does_not_keep_its_context_running) {
  weft::signal_set signals(context, SIGUSR1, SIGUSR2);
  EXPECT_EQ(context.run(), 0u);
  signals.async_wait(note());
  ::raise(SIGUSR2);
  EXPECT_EQ(run().size(), 1u);
}

TEST_P(signal_set_test, notifications_without_waits_are_queued_by_ascending_number) {
  weft::signal_set signals(context, SIGUSR2, SIGUSR1, SIGALRM);
  for (const int signal_number : {SIGALRM, SIGUSR2, SIGUSR1, SIGUSR1})
    ::raise(signal_number);
  for (int i = 0; i != 5; ++i)
    signals.async_wait(note());
  context.poll();
  std::vector<int> numbers;
  for (const auto& [ec, number] : results)
    numbers.push_back(number);
  EXPECT_EQ(numbers, (std::vector<int>{SIGUSR1, SIGUSR1, SIGUSR2, SIGALRM}));
  signals.cancel();
  results.clear();
  EXPECT_EQ(run(), (result_list{{aborted, 0}}));
}

TEST_P(signal_set_test, waits_take_signals_in_the_order_of_their_start) {
  weft::signal_set signals(context, SIGUSR1);
  std::vector<int> order;
  for (int i = 0; i != 3; ++i)
    signals.async_wait([&order, i](weft::error_code, int) { order.push_back(i); });
  for (int i = 0; i != 3; ++i)
    ::raise(SIGUSR1);
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_P(signal_set_test, a_signal_reaches_every_set_in_every_context) {
  weft::io_context other(weft_test::make_context_options(GetParam()));
  weft::signal_set here(context, SIGUSR1), too(context, SIGUSR1), there(other, SIGUSR1);
  here.async_wait(note());
  too.async_wait(note());
  int elsewhere = 0;
  there.async_wait([&](weft::error_code ec, int) {
    EXPECT_FALSE(ec);
    ++elsewhere;
  });
  ::raise(SIGUSR1);
  EXPECT_EQ(run().size(), 2u);
  EXPECT_EQ(elsewhere, 0);
  other.run();
  EXPECT_EQ(elsewhere, 1);
}

TEST_P(signal_set_test, removing_a_signal_discards_its_notifications) {
  weft::signal_set keeper(context, SIGUSR1), signals(context, SIGUSR1, SIGUSR2);
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  signals.remove(SIGUSR1);
  signals.remove(SIGALRM);  // not in it: nothing happens
  signals.async_wait(note());
  EXPECT_EQ(run(), (result_list{{success, SIGUSR2}}));
  ::raise(SIGUSR2);
  signals.clear();
  signals.add(SIGUSR2);
  signals.async_wait(note());
  context.restart();
  context.poll();
  EXPECT_TRUE(results.empty());
  ::raise(SIGUSR2);
  EXPECT_EQ(run(), (result_list{{success, SIGUSR2}}));
}

TEST_P(signal_set_test, a_set_does_not_hear_what_was_raised_before_it_added_the_signal) {
  weft::signal_set first(context, SIGUSR1);
  ::raise(SIGUSR1);
  weft::signal_set second(context, SIGUSR1);
  second.async_wait(note());
  context.poll();
  EXPECT_TRUE(results.empty());
  second.cancel();
  run();
}

void mine(int) {}

TEST_P(signal_set_test, the_last_removal_restores_the_disposition) {
  struct sigaction action{};
  action.sa_handler = &mine;
  action.sa_flags = SA_NODEFER;
  struct sigaction original{};
  ::sigaction(SIGUSR1, &action, &original);
  {
    weft::signal_set first(context, SIGUSR1);
    first.add(SIGUSR1);  // again: nothing happens
    {
      weft::signal_set second(context, SIGUSR1);
      EXPECT_NE(disposition(SIGUSR1).sa_handler, &mine);
    }
    EXPECT_NE(disposition(SIGUSR1).sa_handler, &mine);
  }
  EXPECT_EQ(disposition(SIGUSR1).sa_handler, &mine);
  EXPECT_TRUE(disposition(SIGUSR1).sa_flags & SA_NODEFER);
  {
    weft::signal_set signals(context, SIGUSR1);
    ::signal(SIGUSR1, SIG_IGN);  // somebody else's business meanwhile
  }
  EXPECT_EQ(disposition(SIGUSR1).sa_handler, SIG_IGN);
  ::sigaction(SIGUSR1, &original, nullptr);
}

TEST_P(signal_set_test, numbers_that_cannot_be_caught_are_refused) {
  weft::signal_set signals(context);
  weft::error_code ec;
  for (const int signal_number : {-1, 0, NSIG, 1000, SIGKILL, SIGSTOP}) {
    signals.add(signal_number, ec);
    EXPECT_EQ(ec, weft::error::invalid_argument) << signal_number;
  }
  EXPECT_THROW(signals.add(SIGKILL), weft::system_error);
  EXPECT_THROW(weft::signal_set(context, SIGKILL), weft::system_error);
  signals.remove(NSIG, ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  signals.remove(SIGUSR1, ec);
  EXPECT_FALSE(ec);
  signals.clear(ec);
  EXPECT_FALSE(ec);
  signals.cancel(ec);
  EXPECT_FALSE(ec);
}

TEST_P(signal_set_test, flags_reach_the_kernel_and_may_not_contradict) {
  weft::signal_set first(context), second(context);
  weft::error_code ec;
  first.add(SIGCHLD);
  EXPECT_TRUE(disposition(SIGCHLD).sa_flags & SA_RESTART);
  second.add(SIGCHLD, flags::no_child_stop | flags::restart, ec);
  EXPECT_FALSE(ec);  // the first one does not care
  EXPECT_TRUE(disposition(SIGCHLD).sa_flags & SA_NOCLDSTOP);
  first.add(SIGCHLD, flags::none, ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  first.add(SIGCHLD, flags::no_child_stop | flags::restart, ec);
  EXPECT_FALSE(ec);
  first.clear();
  second.clear();
  first.add(SIGCHLD, flags::none);
  EXPECT_FALSE(disposition(SIGCHLD).sa_flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT));
}

TEST_P(signal_set_test, cancel_ends_the_waits_and_keeps_the_signals) {
  weft::signal_set signals(context, SIGUSR1);
  signals.async_wait(note());
  signals.async_wait(note());
  signals.cancel();
  EXPECT_EQ(run(), (result_list{{aborted, 0}, {aborted, 0}}));
  signals.async_wait(note());
  ::raise(SIGUSR1);
  EXPECT_EQ(run(), (result_list{{success, SIGUSR1}}));
}

TEST_P(signal_set_test, a_slot_cancels_its_wait_alone_and_loses_no_notification) {
  weft::signal_set signals(context, SIGUSR1);
  weft::cancellation_signal signal;
  signals.async_wait(weft::bind_cancellation_slot(signal.slot(), note()));
  signals.async_wait(note());
  signal.emit(weft::cancellation_type::none);
  signal.emit(weft::cancellation_type::total);
  ::raise(SIGUSR1);
  EXPECT_EQ(run(), (result_list{{aborted, 0}, {success, SIGUSR1}}));
}

TEST_P(signal_set_test, destroying_a_set_cancels_its_waits) {
  std::optional<weft::signal_set> signals(std::in_place, context, SIGUSR1);
  signals->async_wait(note());
  signals.reset();
  EXPECT_EQ(run(), (result_list{{aborted, 0}}));
}

TEST_P(signal_set_test, a_handler_may_wait_again) {
  weft::signal_set signals(context, SIGUSR1);
  signals.async_wait([&](weft::error_code, int) {
    signals.async_wait(note());
    ::raise(SIGUSR1);
  });
  ::raise(SIGUSR1);
  EXPECT_EQ(run(), (result_list{{success, SIGUSR1}}));
}

TEST_P(signal_set_test, signals_of_many_threads_and_waits_of_many_all_meet) {
  constexpr int count = 300;
  weft::signal_set signals(context, SIGUSR1);
  int received = 0;
  for (int i = 0; i != count; ++i)
    signals.async_wait([&](weft::error_code ec, int) {
      EXPECT_FALSE(ec);
      ++received;
    });
  std::vector<std::jthread> raisers;
  for (int t = 0; t != 3; ++t)
    raisers.emplace_back([] {
      for (int i = 0; i != count / 3; ++i)
        ::raise(SIGUSR1);  // delivered before it returns: none is merged
    });
  context.run();
  EXPECT_EQ(received, count);
}

TEST_P(signal_set_test, after_a_fork_each_process_sees_its_own_signals) {
  weft::signal_set signals(context, SIGUSR1);
  signals.async_wait(note());
  context.poll();
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        ::raise(SIGUSR1);
        context.restart();
        context.run();
        return results == result_list{{success, SIGUSR1}};
      },
      context));
  context.restart();
  context.poll();
  EXPECT_TRUE(results.empty());
  ::raise(SIGUSR1);
  EXPECT_EQ(run(), (result_list{{success, SIGUSR1}}));
}

TEST_P(signal_set_test, contexts_made_after_a_fork_share_nothing_that_rings) {
  int ends[2][2];
  ASSERT_EQ(::pipe(ends[0]), 0);
  ASSERT_EQ(::pipe(ends[1]), 0);
  char byte = 0;
  {
    weft::io_context before(weft_test::make_context_options(GetParam()));
    const weft::signal_set signals(before, SIGUSR1);  // what rings is left for the next
  }
  const pid_t child = weft_test::start_child([&] {
    ::close(ends[0][0]);
    ::close(ends[1][1]);
    weft::io_context after(weft_test::make_context_options(GetParam()));
    weft::signal_set signals(after, SIGUSR1);
    signals.async_wait(note());
    ::raise(SIGUSR1);
    const bool is_told = ::write(ends[0][1], "r", 1) == 1 && ::read(ends[1][0], &byte, 1) == 1;
    after.run();
    return is_told && results == result_list{{success, SIGUSR1}};
  });
  ::close(ends[0][1]);
  ::close(ends[1][0]);
  weft::io_context after(weft_test::make_context_options(GetParam()));
  weft::signal_set signals(after, SIGUSR1);
  signals.async_wait(note());
  EXPECT_EQ(::read(ends[0][0], &byte, 1), 1);
  after.poll();
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(::write(ends[1][1], "g", 1), 1);
  EXPECT_TRUE(weft_test::has_succeeded(child));
  ::close(ends[0][0]);
  ::close(ends[1][1]);
}

WEFT_INSTANTIATE_BACKENDS(signal_set_test);

#if WEFT_TEST_FORKS_OF_THREADS

TEST(signal_set_fork, a_child_may_use_sets_while_other_threads_were_using_theirs) {
  const auto use = [] {
    weft::io_context context;
    weft::signal_set signals(context, SIGUSR1);
    weft::error_code ec;
    signals.add(SIGUSR2, ec);
    return !ec;
  };
  weft_test::expect_success_in_children_meanwhile(use, use);
}

#endif

TEST(signal_set_end_test, a_context_may_end_with_waits_whose_handlers_own_their_sets) {
  const auto alive = std::make_shared<int>(0);
  {
    weft::io_context context;
    auto signals = std::make_shared<weft::signal_set>(context, SIGUSR1);
    signals->async_wait([alive, signals](weft::error_code, int) { FAIL(); });
    signals->async_wait([alive, signals](weft::error_code, int) { FAIL(); });
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(disposition(SIGUSR1).sa_handler, SIG_DFL);
}

TEST(signal_set_end_test, a_set_may_outlive_its_context) {
  std::optional<weft::io_context> context(std::in_place);
  weft::signal_set signals(*context, SIGUSR1);
  signals.async_wait([](weft::error_code, int) { FAIL(); });
  context.reset();
  ::raise(SIGUSR1);
  signals.cancel();
}

}  // namespace
