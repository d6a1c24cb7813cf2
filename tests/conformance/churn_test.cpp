// SPDX-License-Identifier: BSL-1.0
// Threads enter and leave run() and its siblings, and end, while others post, start, cancel and
// destroy: each handler is called once, or destroyed with its context.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/consign.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/writable_pipe.hpp>

#include "support/kernel.hpp"
#include "support/stress.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed) {}
  unsigned operator()(unsigned sides) { return static_cast<unsigned>(random_() % sides); }

 private:
  std::mt19937_64 random_;
};

/// The handlers of one context.
struct tally {
  std::atomic<int> made{0}, called{0}, ended{0};
  std::atomic<bool> twice{false};
};

/// A handler, with memory to read to.
class handler {
 public:
  explicit handler(tally& t) : state_(std::make_unique<state>(t)) {}

  auto buffer() { return weft::buffer(state_->data); }

  template <class... Results>
  void operator()(Results&&...) {
    if (std::exchange(state_->called, true))
      state_->owner.twice = true;
    state_->owner.called.fetch_add(1);
  }

 private:
  struct state {
    explicit state(tally& t) : owner(t) { owner.made.fetch_add(1); }
    ~state() { owner.ended.fetch_add(1); }
    tally& owner;
    bool called = false;
    std::array<char, 16> data{};
  };
  std::unique_ptr<state> state_;
};

/// A handler that posts another, and so on.
struct chain {
  handler self;
  tally* all;
  weft::io_context* context;
  unsigned length;

  void operator()() {
    self();
    if (length != 0)
      weft::post(*context, chain{handler(*all), all, context, length - 1});
  }
};

/// Objects with operations pending, which one thread uses and any other may cancel.
class objects {
 public:
  objects(weft::io_context& context, tally& all)
      : context_(context),
        all_(all),
        timer_(context),
        strand_(weft::make_strand(context)),
        in_(context),
        out_(context) {
    weft::connect_pipe(in_, out_);
  }

  void use(dice& roll) {
    switch (roll(8)) {
      case 0: weft::post(context_, chain{handler(all_), &all_, &context_, roll(20)}); break;
      case 1: weft::post(strand_, handler(all_)); break;
      case 2:
        timer_.expires_after(std::chrono::microseconds(roll(3) == 0 ? 10'000'000 : roll(300)));
        timer_.async_wait(handler(all_));
        break;
      case 3: timer_.async_wait(weft::bind_executor(strand_, handler(all_))); break;
      case 4:
      case 5: read(); break;
      case 6: out_.async_write_some(weft::buffer("x", 1), handler(all_)); break;
      case 7: {
        handler h(all_);
        const auto buffer = h.buffer();
        const auto signal = std::make_shared<weft::cancellation_signal>();
        in_.async_read_some(buffer, weft::bind_cancellation_slot(
                                        signal->slot(), weft::consign(std::move(h), signal)));
        signal->emit(weft::cancellation_type::terminal);
        break;
      }
    }
  }

  void cancel(dice& roll) {
    switch (roll(3)) {
      case 0: timer_.cancel(); break;
      case 1: in_.cancel(); break;
      case 2: out_.cancel(); break;
    }
  }

 private:
  void read() {
    handler h(all_);
    const auto buffer = h.buffer();
    in_.async_read_some(buffer, std::move(h));
  }

  weft::io_context& context_;
  tally& all_;
  weft::steady_timer timer_;
  weft::strand<weft::io_context::executor_type> strand_;
  weft::readable_pipe in_;
  weft::writable_pipe out_;
};

/// A place where objects come and go; who looks at it keeps them alive.
class place {
 public:
  place(weft::io_context& context, tally& all) : context_(context), all_(all) {}

  void use(dice& roll) {
    if (!objects_ || roll(20) == 0) {
      auto made = std::make_unique<objects>(context_, all_);
      const std::lock_guard lock(mutex_);
      objects_.swap(made);
      made.reset();
    }
    objects_->use(roll);
  }
  void cancel(dice& roll) {
    const std::lock_guard lock(mutex_);
    if (objects_)
      objects_->cancel(roll);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    objects_.reset();
  }

 private:
  weft::io_context& context_;
  tally& all_;
  std::mutex mutex_;
  std::unique_ptr<objects> objects_;
};

/// One stay of a thread.
void run_somehow(weft::io_context& context, dice& roll) {
  const auto a_while = std::chrono::microseconds(roll(200));
  switch (roll(6)) {
    case 0: context.run_one(); break;
    case 1: context.poll(); break;
    case 2: context.poll_one(); break;
    case 3: context.run_for(a_while); break;
    case 4: context.run_one_for(a_while); break;
    case 5: context.run(); break;
  }
}

/// A thread that always has a successor: it ends after a few stays.
class runner {
 public:
  runner(weft::io_context& context, std::uint64_t seed)
      : manager_([this, &context, roll = dice(seed)]() mutable {
          while (!done_)
            std::thread([&] {
              for (unsigned stays = 1 + roll(20); stays != 0 && !done_; --stays)
                run_somehow(context, roll);
            }).join();
        }) {}
  void end() { done_ = true; }
  ~runner() { manager_.join(); }

 private:
  std::atomic<bool> done_{false};
  std::thread manager_;
};

using churn = weft_test::kernel_test;
WEFT_INSTANTIATE_KERNELS(churn);

/// Whether it comes true, in a time that is ample.
template <class F>
bool comes_true(F condition) {
  const auto end = clock_type::now() + 30s;
  while (!condition()) {
    if (clock_type::now() >= end)
      return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_P(churn, calls_every_handler_once) {
  const std::uint64_t seed = weft_test::stress_seed();
  const auto time = weft_test::stress_time(400ms);
  tally all;
  std::optional work(weft::make_work_guard(context));
  std::list<place> places;
  for (int i = 0; i != 2; ++i)
    places.emplace_back(context, all);
  dice roll(seed + 20);

  // Threads come and go.
  {
    const auto end = clock_type::now() + time;
    std::list<runner> runners;
    for (std::uint64_t i = 0; i != 3; ++i)
      runners.emplace_back(context, seed + i);
    std::vector<std::thread> users;
    for (place& p : places)
      users.emplace_back([&, own_roll = dice(seed + 10 + users.size())]() mutable {
        while (clock_type::now() < end)
          if (all.made - all.called < 1000)
            p.use(own_roll);
        p.clear();
      });
    while (clock_type::now() < end) {
      for (place& p : places)
        p.cancel(roll);
      if (roll(10) == 0)
        context.stop();
      context.restart();
    }
    for (std::thread& u : users)
      u.join();
    for (runner& r : runners)
      r.end();
    context.stop();
  }

  // Threads stay in run(), where nothing but what is queued, once, can wake them.
  context.restart();
  std::atomic<int> returned{0};
  std::array<std::thread, 3> threads;
  for (std::thread& t : threads)
    t = std::thread([&] {
      context.run();
      ++returned;
    });
  const auto expect = [&](auto condition) {
    if (!comes_true(condition))
      ADD_FAILURE() << "seed " << seed << ": " << all.made << " handlers made, " << all.called
                    << " called, " << all.ended << " ended; " << returned << " threads returned";
  };
  const auto all_ended = [&] { return all.called == all.made && all.ended == all.made; };
  expect(all_ended);
  const auto use_for_once = [&](place& p, dice own_roll) {
    for (unsigned n = own_roll(5); n != 0; --n)
      p.use(own_roll);
    p.clear();
    if (own_roll(2) == 0)
      weft::post(context, chain{handler(all), &all, &context, own_roll(20)});
  };
  const auto end = clock_type::now() + time;
  while (clock_type::now() < end && !HasFailure()) {
    std::thread other(use_for_once, std::ref(places.front()), dice(roll(1'000'000)));
    use_for_once(places.back(), dice(roll(1'000'000)));
    other.join();
    expect(all_ended);
  }
  EXPECT_EQ(returned, 0);
  work.reset();
  expect([&] { return returned == 3; });
  context.stop();
  for (std::thread& t : threads)
    t.join();
  EXPECT_FALSE(all.twice);
}

TEST_P(churn, ends_every_handler_with_its_context) {
  const std::uint64_t seed = weft_test::stress_seed();
  const auto end = clock_type::now() + weft_test::stress_time(400ms);
  dice roll(seed);
  do {
    tally all;
    {
      weft::io_context inner(configuration());
      std::optional work(weft::make_work_guard(inner));
      std::list<runner> runners;
      for (std::uint64_t i = 0; i != 2; ++i)
        runners.emplace_back(inner, roll(1'000'000));
      // Objects that live as long as a handler of theirs.
      std::vector<std::shared_ptr<objects>> owned;
      for (unsigned i = 0; i != 4; ++i) {
        owned.push_back(std::make_shared<objects>(inner, all));
        for (unsigned n = roll(30); n != 0; --n)
          owned.back()->use(roll);
        auto timer = std::make_shared<weft::steady_timer>(inner, 1h);
        timer->async_wait(
            [timer, o = owned.back(), h = handler(all)](weft::error_code ec) mutable { h(ec); });
      }
      owned.resize(roll(4));
      for (runner& r : runners)
        r.end();
      inner.stop();
      runners.clear();
      owned.clear();
      work.reset();
    }
    ASSERT_EQ(all.ended, all.made);
    ASSERT_LE(all.called, all.made);
    ASSERT_FALSE(all.twice);
  } while (clock_type::now() < end);
}

// Two helpers take turns: each queues a handler and then ends the last work, beside a run() that
// returns as soon as it may, and the next one.
TEST_P(churn, is_not_stopped_late_by_who_ends_the_last_work) {
  using guard = weft::executor_work_guard<weft::io_context::executor_type>;
  struct helper {
    std::optional<guard> work;
    std::atomic<bool> is_called{false};
    std::thread thread;
  };
  std::array<helper, 2> helpers;
  std::atomic<bool> done{false};
  std::atomic<unsigned> ran{0};
  for (helper& h : helpers)
    h.thread = std::thread([&] {
      while (!done) {
        if (h.is_called) {
          weft::post(context, [&] { ++ran; });
          h.work.reset();
          h.is_called = false;
        }
      }
    });
  const auto end = clock_type::now() + weft_test::stress_time(400ms);
  for (unsigned round = 1; clock_type::now() < end && !HasFailure(); ++round) {
    helper& h = helpers[round % 2];
    while (h.is_called)
      std::this_thread::yield();
    h.work.emplace(context.get_executor());
    h.is_called = true;
    context.run();
    EXPECT_EQ(ran, round);
    context.restart();
  }
  done = true;
  for (helper& h : helpers)
    h.thread.join();
}

}  // namespace
