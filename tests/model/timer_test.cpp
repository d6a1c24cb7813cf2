// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "io/timer_core.ipp"
#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;
using weft::detail::operation;
using weft::detail::operation_queue;

class wait;
class executor;

/// Counts the cores, each of which has one.
struct counted_mutex : model::mutex {
  counted_mutex() { ++alive; }
  ~counted_mutex() { --alive; }
  static inline int alive = 0;
};

struct traits {
  using atomics = model::atomics;
  using lock = counted_mutex;
  using scheduler = executor;
  using wait_operation = wait;
  static constexpr unsigned batch = 1;
};
using core = weft::detail::basic_timer_core<traits>;
using link = weft::detail::basic_wait_link<traits::atomics>;
using node = weft::detail::basic_wait_node<traits>;

/// What runs what has completed, for any thread that lends a hand.
class executor {
 public:
  void receive(operation_queue& ops) {
    const std::lock_guard lock(mutex_);
    ready_.splice(ops);
  }
  void complete(operation_queue& ops) {
    receive(ops);
    wake(wake_arg);
  }
  void complete(operation* op) {
    operation_queue one;
    one.push(op);
    complete(one);
  }
  void work_started() { work.fetch_add(1, std::memory_order_relaxed); }
  void work_finished() { work.fetch_sub(1, std::memory_order_relaxed); }

  bool run_one() {
    operation* op = nullptr;
    {
      const std::lock_guard lock(mutex_);
      op = ready_.pop();
    }
    if (op)
      op->invoke();
    return op;
  }

  model::atomic<int> work{0};
  void (*wake)(void*) = nullptr;  // a scheduler wakes its poller for what is queued elsewhere
  void* wake_arg = nullptr;

 private:
  model::mutex mutex_;
  operation_queue ready_;
};

enum class outcome { none, success, aborted, retracted, destroyed };

/// A wait. A model's code may ask for `cancel_has_returned`: it is memory of the checker's own, so
/// it orders nothing.
class wait final : public operation, public node {
 public:
  wait(core& c, executor& e, weft::detail::basic_timer_queue<traits>* queue, std::int64_t expiry)
      : operation(&end), node(queue, expiry), core_(c), executor_(e) {}

  executor& owner() const { return executor_; }

  outcome ended = outcome::none;
  bool cancel_has_returned = false;

 private:
  void become(outcome how) {
    require(ended == outcome::none, "a wait has two outcomes");
    ended = how;
  }

  static void end(operation* base, action what) {
    auto* const self = static_cast<wait*>(base);
    if (what == action::destroy) {
      if (!self->is_claimed_)
        self->core_.settle(self);
      return self->become(outcome::destroyed);
    }
    const bool is_late = self->cancel_has_returned;
    const bool was_cancelled = self->core_.settle(self);
    require(!is_late || was_cancelled, "success after a cancel that returned");
    self->become(was_cancelled ? outcome::aborted : outcome::success);
    self->executor_.work_finished();
  }

  core& core_;
  executor& executor_;
};

std::int64_t now = 0;
constexpr weft::detail::timer_clock clock_of_model{
    []() noexcept { return now; }, [](std::int64_t expiry) noexcept { return expiry - now; }};
constexpr std::int64_t a_minute = 60'000'000'000;
constexpr std::int64_t an_hour = 60 * a_minute;

/// A service, its executor and one timer.
struct fixture {
  fixture() {
    counted_mutex::alive = 0;
    timers = new core(executor_, &wake, this);
    queue = timers->attach(clock_of_model);
    now = 0;
    executor_.wake = &wake;
    executor_.wake_arg = this;
  }
  ~fixture() {
    while (executor_.run_one()) {}
    if (list)
      end_timer();
    timers->detach();
    require(counted_mutex::alive == 0, "what timers and waits share is not destroyed");
    for (const wait& w : waits)
      require(w.ended != outcome::none, "a wait has no outcome");
    require(executor_.work.load(std::memory_order_relaxed) == 0, "the count of work is wrong");
  }

  wait* make(std::int64_t expiry) { return &waits.emplace_back(*timers, executor_, queue, expiry); }

  std::size_t cancel() { return list->is_empty() ? 0 : timers->cancel(*list, true); }

  void end_timer() {
    cancel();
    timers->detach();
    list.reset();
  }

  /// What the poller does when it is awake.
  void collect() {
    if (timers->empty())
      return;
    operation_queue ready;
    timers->collect(ready);
    executor_.receive(ready);
  }

  /// The poller. A sleep of a minute is over at once, a longer one ends only by a wake-up.
  void poll() {
    const std::int64_t longest = timers->prepare_wait();
    if (longest <= a_minute) {
      now += longest;
    } else {
      std::unique_lock lock(sleep_mutex);
      while (!woken)
        sleeping.wait(lock);
      woken = false;
    }
    timers->finish_wait();
    collect();
  }
  static void wake(void* self) {
    auto* const f = static_cast<fixture*>(self);
    const std::lock_guard lock(f->sleep_mutex);
    f->woken = true;
    f->sleeping.notify_one();
  }

  std::size_t count(outcome how) const {
    return static_cast<std::size_t>(
        std::count_if(waits.begin(), waits.end(), [&](const wait& w) { return w.ended == how; }));
  }

  executor executor_;
  core* timers;
  weft::detail::basic_timer_queue<traits>* queue;
  std::optional<link> list{std::in_place};
  std::deque<wait> waits;
  model::mutex sleep_mutex;  // of the kernel
  model::condition_variable sleeping;
  bool woken = false;
};

// The wait is due: it expires, is claimed and is cancelled, by three threads.
void expiry_cancel_and_claim() {
  fixture f;
  wait* const a = f.make(0);
  wait* const b = f.make(0);
  f.timers->start(*f.list, a);
  f.timers->start(*f.list, b);
  std::size_t cancelled = 0;
  thread poller([&] { f.collect(); });
  thread runner([&] {
    f.executor_.run_one();
    f.executor_.run_one();
  });
  thread canceller([&] {
    cancelled = f.cancel();
    a->cancel_has_returned = b->cancel_has_returned = true;
  });
  poller.join();
  runner.join();
  canceller.join();
  f.collect();
  while (f.executor_.run_one()) {}
  require(cancelled == f.count(outcome::aborted), "the count of those cancelled is wrong");
}

// Two threads cancel: each wait is counted by one of them.
void two_cancels() {
  fixture f;
  wait* const a = f.make(0);
  f.timers->start(*f.list, a);
  std::size_t first = 0, second = 0;
  thread one([&] {
    first = f.cancel();
    a->cancel_has_returned = true;
  });
  thread two([&] {
    f.collect();
    second = f.timers->cancel(*f.list, false);
  });
  f.executor_.run_one();
  one.join();
  two.join();
  f.collect();
  while (f.executor_.run_one()) {}
  require(first + second == f.count(outcome::aborted), "the count of those cancelled is wrong");
}

// One wait alone is cancelled, perhaps before it has started, while others end the timer.
void cancel_of_one_wait_and_end_of_the_timer() {
  fixture f;
  wait* const a = f.make(0);
  wait* const b = f.make(an_hour);
  thread starter([&] {
    f.timers->start(*f.list, a);
    f.timers->start(*f.list, b);
    f.end_timer();
  });
  thread canceller([&] {
    f.timers->cancel(b);
    b->cancel_has_returned = true;
  });
  f.collect();
  f.executor_.run_one();
  starter.join();
  canceller.join();
  f.collect();
  while (f.executor_.run_one()) {}
  require(b->ended == outcome::aborted, "a wait of an hour is over");
}

// The same, with nobody else to end the wait.
void cancel_of_one_wait() {
  fixture f;
  wait* const a = f.make(an_hour);
  thread starter([&] { f.timers->start(*f.list, a); });
  thread canceller([&] { f.timers->cancel(a); });
  starter.join();
  canceller.join();
  f.executor_.run_one();
  require(a->ended == outcome::aborted, "a cancel is lost");
}

// A timeout: what it guards ends before, while or after the wait starts or expires.
void retraction() {
  fixture f;
  wait* const a = f.make(0);
  bool retracted = false, started = false;
  thread starter([&] { started = f.timers->start(*f.list, a); });
  thread other([&] {
    retracted = f.timers->retract(a);
    a->cancel_has_returned = true;
  });
  f.collect();
  f.executor_.run_one();
  starter.join();
  other.join();
  f.collect();
  while (f.executor_.run_one()) {}
  require((a->ended == outcome::none) == (retracted || !started), "taken back, but it completes");
  if (a->ended == outcome::none)
    a->ended = outcome::retracted;
}

// The poller goes to sleep while waits are armed: none is slept through.
void arming_beside_the_poller() {
  fixture f;
  wait* const a = f.make(an_hour);
  wait* const b = f.make(a_minute);
  thread poller([&] {
    while (f.count(outcome::success) == 0) {
      f.poll();
      while (f.executor_.run_one()) {}
    }
  });
  thread other([&] { f.timers->start(*f.list, a); });
  f.timers->start(*f.list, b);
  poller.join();
  other.join();
  f.cancel();
}

// The service goes first, waits and their timer outlive it.
void shutdown_beside_users() {
  fixture f;
  wait* const a = f.make(0);
  wait* const b = f.make(an_hour);
  f.timers->start(*f.list, a);
  f.collect();
  thread starter([&] {
    f.timers->start(*f.list, b);
    f.cancel();
  });
  thread runner([&] { f.executor_.run_one(); });
  {
    operation_queue ended;
    f.timers->shutdown(ended);
    while (operation* op = ended.pop()) {
      op->destroy();
      f.executor_.work_finished();
    }
  }
  starter.join();
  runner.join();
}

TEST(timer_model, every_wait_has_one_outcome_and_a_cancel_that_returned_has_won) {
  model::no_order_is_needed({
      {"expiry_cancel_and_claim", expiry_cancel_and_claim, {.preemptions = 3, .weak_choices = 1}},
      {"two_cancels", two_cancels, {.preemptions = 3, .weak_choices = 1}},
      {"cancel_of_one_wait_and_end_of_the_timer",
       cancel_of_one_wait_and_end_of_the_timer,
       {.preemptions = 3, .weak_choices = 1}},
      {"cancel_of_one_wait", cancel_of_one_wait, {.preemptions = 3, .weak_choices = 1}},
      {"retraction", retraction, {.preemptions = 3, .weak_choices = 1}},
      {"arming_beside_the_poller", arming_beside_the_poller, {.preemptions = 3, .weak_choices = 1}},
      {"shutdown_beside_users", shutdown_beside_users, {.preemptions = 3, .weak_choices = 1}},
  });
}

}  // namespace
