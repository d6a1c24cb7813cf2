// SPDX-License-Identifier: BSL-1.0
// The scheduler: its shipping sources are compiled here once more, in a namespace of their own,
// over the checker's atomics, mutexes, condition variables and clock. No scenario observes
// (metrics, origins, the stall detector), forks, or has a thread of the scheduler's own.
#define WEFT_NAMESPACE weft_under_model
#define scheduler_atomics shipping_atomics
#include "context/scheduler/atomics.hpp"
#undef scheduler_atomics

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"
#include "support/stress.hpp"

namespace weft_under_model::detail {

class scheduler_model;

/// Time stands still but for who waits for it, or spins.
struct model_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<model_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time; }
  static inline time_point time;
};

struct scheduler_atomics : model::atomics {
  using where = std::source_location;
  using clock = model_clock;

  /// Who gives it back leaves the scheduler in a state that makes sense.
  struct mutex : model::mutex {
    void unlock(where w = where::current()) {
      scheduler_atomics::check();
      model::mutex::unlock(w);
    }
  };
  struct condition_variable : model::condition_variable {
    void wait(std::unique_lock<mutex>& l, where w = where::current()) {
      scheduler_atomics::check();
      model::condition_variable::wait(l, w);
    }
    void wait_until(std::unique_lock<mutex>& l, clock::time_point until,
                    where w = where::current()) {
      scheduler_atomics::check();
      if (model::condition_variable::wait_until(l, until, w) == std::cv_status::timeout)
        clock::time = std::max(clock::time, until);
    }
  };

  static constexpr unsigned poll_interval = 2;
  static constexpr std::size_t segment_limit = 2;

  static bool barriers_available() noexcept { return biased; }
  static void light_barrier(where w = where::current()) { model::light_barrier(w); }
  static void heavy_barrier(where w = where::current()) { model::heavy_barrier(w); }
  static void expect_foreign_memory(std::uint32_t) {}
  static void yield() { model::yield(); }
  /// Others are let go first as often as who spins looks at more than the inbox.
  static void pause() {
    clock::time += rest;
    if (++pauses % seldom == 0)
      model::yield();
  }
  static constexpr std::chrono::microseconds rest{100};
  static constexpr unsigned seldom = 16;
  static inline unsigned pauses = 0;

  static void check();
  static inline bool biased = true;
  static inline const scheduler_model* checked = nullptr;
};

}  // namespace weft_under_model::detail

#include "base/clock.cpp"
#include "base/home_process.cpp"
#include "base/operation_origin.cpp"
#include "context/scheduler/look.cpp"
#include "context/scheduler/observation.cpp"
#include "context/scheduler/queues.cpp"
#include "context/scheduler/scheduler.cpp"
#include "context/scheduler/sleep.cpp"
#include "context/scheduler/worker.cpp"
#include "execution/execution_context.cpp"

namespace weft_under_model::detail {

using namespace std::chrono_literals;
using model::require;
using model::thread;

/// What holds whenever nobody holds the scheduler's mutex.
class scheduler_model {
 public:
  explicit scheduler_model(const scheduler& s) : s_(s) { scheduler_atomics::checked = this; }
  scheduler_model(const scheduler_model&) = delete;
  ~scheduler_model() { scheduler_atomics::checked = nullptr; }

  /// What each thread has of its own.
  static void** innermost_worker() { return reinterpret_cast<void**>(&worker::innermost_); }

  void check() const {
    unsigned all = 0, threads = 0, searchers = 0, awake = 0;
    for (const worker* w = s_.workers_; w; w = w->next_) {
      ++all;
      threads += !w->further_out();
      searchers += w->searches_;
      awake += !w->settled_;
    }
    int asleep =
        s_.foreign_asleep_ + s_.poller_asleep_ + (s_.watcher_ && s_.watcher_ != s_.poller_);
    for (const worker* w = s_.parked_; w; w = w->next_parked_)
      ++asleep;
    require(searchers <= 1, "two search at once");
    require(s_.searching_.peek() == (searchers == 1), "nobody searches, but it looks so");
    require(s_.awake_ == awake, "the count of those awake is wrong");
    require(s_.idle_.peek() == asleep, "the count of those asleep is wrong");
    require(s_.several_.peek() == (threads > 1), "one or several threads: it looks otherwise");
    require(s_.watching_.peek() == (s_.watcher_ != nullptr), "nobody watches, but it looks so");
    require(!s_.poller_asleep_ || s_.poller_, "the poller sleeps, but nobody polls");
    require(!s_.foreign_asleep_ || all == 0, "a foreign loop stands for a worker beside others");
    require(all != 1 || awake != 1 || s_.backlog_.empty(),
            "something is where one who is alone does not look");
    for (const worker* w = s_.workers_; w; w = w->next_)
      require(!w->settled_ || w->local_.empty(), "who sleeps has something queued");
  }

  /// How long the turn is that follows so many which took so long each.
  static unsigned turn_after(worker& w, int turns, std::chrono::nanoseconds each) {
    for (int i = 0; i != turns; ++i) {
      model_clock::time += each;
      w.adapt_turn(model_clock::now(), scheduler::watch_interval, worker::longest_turn);
    }
    return w.turn_;
  }
  static void look_around(scheduler& s, worker& w) { s.look_around(w, scheduler::no_deadline); }
  static void begin_turn(worker& w, unsigned length) { w.begin_turn(length); }
  static void forget_turn(worker& w) { w.forget_turn(); }
  static unsigned left(worker& w) {
    unsigned n = 0;
    for (; w.may_take(); ++n)
      w.count_one();
    return n;
  }

 private:
  const scheduler& s_;
};

void scheduler_atomics::check() {
  if (checked)
    checked->check();
}

namespace {

/// Something to run, once, with a payload that whoever queues it writes.
class item final : public operation {
 public:
  explicit item(std::function<void()> f) : operation(&end), body(std::move(f)) {}

  const std::function<void()> body;
  model::var<int> payload{0};
  model::var<int> effect{0};
  int runs = 0;

 private:
  static void end(operation* base, action what) {
    if (what == action::describe)
      return describe<item>(base);
    if (what == action::destroy)
      return;
    auto* const self = static_cast<item*>(base);
    require(self->payload.get() == 1, "an operation without its payload");
    require(++self->runs == 1, "an operation came twice");
    self->effect.set(1);
    if (self->body)
      self->body();
  }
};

/// Events from outside. Its sleep ends like the kernel's: by an event, by `wake` or by time.
class events final : public driver {
 public:
  events() { made_.set(1); }

  bool poll(std::int64_t timeout, operation_queue& ready) noexcept override {
    std::unique_lock lock(mutex_);
    require(!polled_, "two poll at once");
    polled_ = true;
    while (timeout == forever && happened_.empty() && !woken_)
      changed_.wait(lock);
    if (timeout != 0 && happened_.empty() && !woken_)
      if (changed_.wait_until(lock, 0) == std::cv_status::timeout)
        model_clock::time += std::chrono::nanoseconds(timeout);
    woken_ = false;
    polled_ = false;
    ready.splice(happened_);
    return false;
  }
  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  bool quiet() const noexcept override {
    require(made_.get() == 1, "a driver that is not made yet");
    return false;
  }

  void arm() noexcept override { set_armed(true); }
  void disarm() noexcept override { set_armed(false); }

  /// The sleep of a foreign loop.
  void wait() {
    std::unique_lock lock(mutex_);
    while (!woken_ && (!armed_ || happened_.empty()))
      changed_.wait(lock);
  }

  void happen(item* i) {
    i->payload.set(1);
    const std::lock_guard lock(mutex_);
    happened_.push(i);
    changed_.notify_one();
  }

 private:
  void set_armed(bool armed) {
    const std::lock_guard lock(mutex_);
    armed_ = armed;
    changed_.notify_one();
  }

  model::var<int> made_{0};
  model::mutex mutex_;
  model::condition_variable changed_;
  operation_queue happened_;
  bool armed_ = false;
  bool woken_ = false;
  bool polled_ = false;
};

/// What one handler waits for and another opens.
class gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    while (!is_open_)
      opened_.wait(lock);
  }

 private:
  model::mutex mutex_;
  model::condition_variable opened_;
  bool is_open_ = false;
};

struct fixture {
  explicit fixture(bool biased = true, std::chrono::nanoseconds spin = 0ns)
      : s(context, options(biased, spin)) {}
  ~fixture() {
    for (const item& i : items)
      require(i.runs == 1, "an operation is lost");
  }

  item* make(std::function<void()> body = nullptr) { return &items.emplace_back(std::move(body)); }

  void post(item* i) {
    i->payload.set(1);
    s.post(i);
  }
  void defer(item* i) {
    i->payload.set(1);
    s.defer(i);
  }
  void complete(item* i) {
    i->payload.set(1);
    s.complete(i);
  }

  /// Runs until no work is left: all of it has run then, and its effects are seen.
  std::size_t run() {
    const std::size_t n = s.run();
    for (const item& i : items)
      require(i.runs == 1 && i.effect.get() == 1, "run() returns, but something is left");
    return n;
  }

  static scheduler_options options(bool biased, std::chrono::nanoseconds spin) {
    scheduler_atomics::biased = biased;
    model_clock::time = model_clock::time_point(1h);
    scheduler_atomics::pauses = 0;
    return {.spin = spin};
  }

  execution_context context;
  std::deque<item> items;
  scheduler s;
  scheduler_model invariants{s};
};

// ---- turns

void a_turn_is_long_only_among_short_handlers() {
  using inside = scheduler_model;
  fixture f;
  worker w(f.s, true);
  const auto turn_after = [&](int turns, std::chrono::nanoseconds each) {
    inside::turn_after(w, 10, 1us);
    require(inside::turn_after(w, 1, 1us) == worker::longest_turn, "short handlers, short turns");
    return inside::turn_after(w, turns, each);
  };
  for (const auto each : {100us, 600us, 2000us})
    require(turn_after(1, each) <= worker::poll_interval, "events would wait for a long turn");
  require(turn_after(10, 100us) == worker::poll_interval, "the turns of slow handlers grow");
  require(turn_after(10, 2ms) == 1, "others would wait for slow handlers");
}

void a_turn_is_not_long_where_none_is_measured() {
  using inside = scheduler_model;
  fixture f;
  worker w(f.s, true);
  inside::turn_after(w, 10, 1us);
  inside::look_around(f.s, w);  // alone, and without a driver
  require(inside::turn_after(w, 1, 1us) <= worker::poll_interval, "it is as long as it was");
  inside::begin_turn(w, worker::longest_turn);
  inside::forget_turn(w);
  require(inside::left(w) == worker::poll_interval, "it goes on as long as it was");
}

// ---- sleep

void a_post_is_not_slept_through_by_who_parks() {
  fixture f;
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  thread worker([&] { f.run(); });
  f.post(a);
}

void a_post_is_not_slept_through_by_who_polls() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  thread worker([&] { f.run(); });
  f.post(a);
}

void an_event_is_not_slept_through() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make();
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
  driver.happen(a);
}

void a_driver_that_comes_late_is_polled() {
  fixture f;
  f.s.work_started();
  item* const a = f.make();
  for (int i = 0; i != scheduler_atomics::poll_interval; ++i)
    f.post(f.make());
  std::optional<events> driver;
  thread worker([&] { f.run(); });
  driver.emplace();
  f.s.set_driver(&*driver);
  driver->happen(a);
}

void two_posts_and_two_workers() {
  fixture f;
  f.s.work_started();
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  item* const b = f.make([&] { f.s.work_finished(); });
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
  f.post(a);
  f.post(b);
}

bool all_have_run(const fixture& f) {
  return std::all_of(f.items.begin(), f.items.end(), [](const item& i) { return i.runs == 1; });
}

/// A loop that is not the scheduler's.
void loop(fixture& f, events& driver) {
  f.s.serve_foreign_loop();
  for (;;) {
    f.s.poll();
    if (all_have_run(f))
      return;
    driver.wait();
  }
}

void a_foreign_loop_does_not_sleep_through_a_post() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make();
  thread foreign([&] { loop(f, driver); });
  f.post(a);
}

void a_foreign_loop_does_not_sleep_through_an_event() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make();
  thread foreign([&] { loop(f, driver); });
  driver.happen(a);
}

void a_foreign_loop_is_told_of_what_another_leaves() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make();
  item* const b = f.make();
  thread foreign([&] { loop(f, driver); });
  thread leaves([&] {
    f.s.poll_one();
    if (all_have_run(f))
      driver.wake();
  });
  f.post(a);
  f.post(b);
}

// ---- coming and going

void who_leaves_in_time_passes_on_what_it_was_woken_for() {
  fixture f;
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  thread stays([&] { f.run(); });
  thread leaves([&] { f.s.run_one_until(model_clock::now() + 1s); });
  f.post(a);
}

void who_leaves_passes_on_what_it_has_taken(bool biased) {
  fixture f(biased);
  f.s.work_started();
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  item* const b = f.make([&] { f.s.work_finished(); });
  thread stays([&] { f.run(); });
  thread leaves([&] { f.s.run_one(); });
  f.post(a);
  f.post(b);
}

void who_leaves_passes_on_polling() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  item* const a = f.make();
  thread stays([&] { f.run(); });
  thread leaves([&] { f.s.run_one_until(model_clock::now() + 1s); });
  driver.happen(a);
}

void who_only_looks_keeps_nobody() {
  fixture f;
  f.s.work_started();
  item* const a = f.make([&] { f.s.work_finished(); });
  thread stays([&] { f.run(); });
  thread looks([&] { f.s.poll(); });
  f.post(a);
}

// ---- work

void the_last_work_is_finished_outside() {
  fixture f;
  f.s.work_started();
  f.s.work_started();
  item* const a = f.make();
  thread worker([&] { f.run(); });
  thread outside([&] { f.s.work_finished(); });
  f.complete(a);
}

// Nobody stops the second run for what was counted down in the first.
void no_stop_comes_late() {
  fixture f;
  item* const a = f.make();
  item* const b = f.make();
  f.s.work_started();
  thread first([&] { f.complete(a); });
  require(f.s.run() == 1, "the first run ends too early");
  f.s.restart();
  f.s.work_started();
  thread second([&] { f.complete(b); });
  require(f.s.run() == 1, "the second run ends too early");
}

void stop_ends_every_run_and_restart_lets_them_go_on() {
  fixture f;
  f.s.work_started();
  item* const a = f.make([&] { f.s.stop(); });
  {
    thread one([&] { f.s.run(); });
    thread two([&] { f.s.run(); });
    f.post(a);
  }
  f.s.restart();
  item* const b = f.make([&] { f.s.work_finished(); });
  thread worker([&] { f.run(); });
  f.post(b);
}

void who_sees_it_stopped_sees_what_came_before() {
  fixture f;
  model::var<int> before{0};
  f.s.work_started();
  thread other([&] {
    before.set(1);
    f.s.stop();
  });
  if (f.s.stopped())
    require(before.get() == 1, "stopped before the stop");
}

void who_sees_it_restarted_sees_what_came_before() {
  fixture f;
  model::var<int> before{0};
  f.s.stop();
  thread other([&] {
    before.set(1);
    f.s.restart();
  });
  if (!f.s.stopped())
    require(before.get() == 1, "restarted before the restart");
}

void who_sees_it_out_of_work_sees_what_was_done() {
  fixture f;
  item* const a = f.make();
  f.post(a);
  thread worker([&] { f.run(); });
  if (f.s.stopped())
    require(a->effect.get() == 1, "stopped before the work was done");
}

/// Two units of work, done by two threads outside.
class work_outside {
 public:
  explicit work_outside(fixture& f) : f_(f) {
    f.s.work_started();
    f.s.work_started();
  }
  void begin() {
    one_.emplace([this] { work(one_done_); });
    other_.emplace([this] { work(other_done_); });
  }
  bool is_done() const { return one_done_.get() == 1 && other_done_.get() == 1; }

 private:
  void work(model::var<int>& done) {
    done.set(1);
    f_.s.work_finished();
  }

  fixture& f_;
  model::var<int> one_done_{0}, other_done_{0};
  std::optional<thread> one_, other_;
};

void who_sees_it_out_of_work_sees_what_was_done_outside() {
  fixture f;
  work_outside work(f);
  work.begin();
  if (f.s.stopped())
    require(work.is_done(), "stopped before the work was done");
}

void who_returns_sees_what_was_done_outside() {
  fixture f;
  work_outside work(f);
  work.begin();
  f.s.run();
  require(work.is_done(), "out of work before it was done");
}

// ---- several

void a_share_is_stolen(bool biased) {
  fixture f(biased);
  item* const b = f.make();
  item* const c = f.make();
  item* const d = f.make();
  item* const a = f.make([&] {
    f.post(b);
    f.post(c);
    f.post(d);
  });
  f.post(a);
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
}

void a_continuation_is_stolen_as_well(bool biased) {
  fixture f(biased);
  item* const c = f.make();
  item* const d = f.make();
  item* const b = f.make([&] { f.defer(d); });
  item* const a = f.make([&] {
    f.post(c);
    f.defer(b);
  });
  f.post(a);
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
}

// What was posted before runs before, while one thread is in run().
void order_among_posts(bool nested) {
  fixture f;
  model::atomic<bool> posted{false};
  std::vector<char> order;
  item* const a = f.make([&] { order.push_back('a'); });
  item* const c = f.make([&] { order.push_back('c'); });
  item* const b = f.make([&] {
    const bool later = posted.load(std::memory_order_acquire);
    f.post(c);
    if (nested) {
      f.s.poll();
      require(c->runs == 1, "a nested call does not look in its thread's queue");
    }
    order.push_back(later ? '!' : '?');
  });
  f.post(b);
  thread other([&] {
    f.post(a);
    posted.store(true, std::memory_order_release);
  });
  f.s.run();
  other.join();
  f.s.restart();
  f.s.run();
  const std::string s(order.begin(), order.end());
  require(s.find('!') == std::string::npos || s.find('a') < s.find('c'), "an overtaking");
}

// ---- a handler that blocks

/// Two handlers: the first to run waits for the other.
class couple {
 public:
  explicit couple(fixture& f)
      : one(f.make([this] { meet(); })), other(f.make([this] { meet(); })) {}

  item* const one;
  item* const other;

 private:
  void meet() {
    if (++arrived_ == 1)
      gate_.wait();
    else
      gate_.open();
  }

  gate gate_;
  int arrived_ = 0;
};

/// Two workers, and what they start with.
template <class F>
void two_workers(fixture& f, F begin) {
  f.s.work_started();
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
  begin();
  f.s.work_finished();
}

void what_a_handler_leaves_behind_is_taken(bool biased) {
  fixture f(biased);
  gate opened;
  item* const b = f.make([&] { opened.open(); });
  item* const a = f.make([&] {
    f.post(b);
    opened.wait();
  });
  two_workers(f, [&] { f.post(a); });
}

void a_continuation_behind_a_handler_that_blocks_is_taken(bool biased) {
  fixture f(biased);
  gate opened;
  item* const b = f.make([&] { opened.open(); });
  item* const a = f.make([&] {
    f.defer(b);
    opened.wait();
  });
  two_workers(f, [&] { f.post(a); });
}

void what_a_handler_leaves_behind_is_taken_by_who_polls() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  gate opened;
  item* const b = f.make([&] { opened.open(); });
  item* const a = f.make([&] {
    f.post(b);
    opened.wait();
  });
  two_workers(f, [&] { f.post(a); });
}

void what_is_taken_with_a_handler_that_blocks_is_taken_again() {
  fixture f;
  couple c(f);
  two_workers(f, [&] {
    f.post(c.one);
    f.post(c.other);
  });
}

void an_event_while_a_handler_blocks_is_taken() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  couple c(f);
  f.s.work_started();
  two_workers(f, [&] {
    f.post(c.one);
    driver.happen(c.other);
  });
}

void an_event_that_comes_with_another_is_taken() {
  fixture f;
  events driver;
  f.s.set_driver(&driver);
  couple c(f);
  f.s.work_started();
  f.s.work_started();
  two_workers(f, [&] {
    driver.happen(c.one);
    driver.happen(c.other);
  });
}

// ---- a worker that spins

// As good as for ever: what ends it must be something else.
constexpr auto long_spin = 1h;
// Over before others are let go first: it ends in vain.
constexpr auto short_spin = 3 * scheduler_atomics::rest;

/// A worker spins only after it has run something.
void begin_to_spin(fixture& f, std::function<void()> body = nullptr) {
  f.post(f.make(std::move(body)));
}

void post_to_who_has_run(std::chrono::nanoseconds spin) {
  fixture f(true, spin);
  f.s.work_started();
  begin_to_spin(f);
  item* const a = f.make([&] { f.s.work_finished(); });
  thread worker([&] { f.run(); });
  f.post(a);
}

void a_post_is_not_slept_through_by_who_has_spun() {
  post_to_who_has_run(short_spin);
}
void a_post_ends_a_spin() {
  post_to_who_has_run(long_spin);
}

void an_event_ends_a_spin() {
  fixture f(true, long_spin);
  events driver;
  f.s.set_driver(&driver);
  f.s.work_started();
  begin_to_spin(f);
  item* const a = f.make();
  thread worker([&] { f.run(); });
  driver.happen(a);
}

void a_spin_ends_when_no_work_is_left() {
  fixture f(true, long_spin);
  model::var<int> done{0};
  f.s.work_started();
  begin_to_spin(f);
  thread outside([&] {
    done.set(1);
    f.s.work_finished();
  });
  f.run();
  require(done.get() == 1, "out of work before it was done");
}

void a_stop_ends_a_spin() {
  fixture f(true, long_spin);
  model::var<int> before{0};
  gate begun;
  f.s.work_started();
  begin_to_spin(f, [&] { begun.open(); });
  thread other([&] {
    begun.wait();
    before.set(1);
    f.s.stop();
  });
  f.s.run();
  require(before.get() == 1, "stopped before the stop");
}

void two_posts_and_two_workers_that_spin() {
  fixture f(true, short_spin);
  f.s.work_started();
  f.s.work_started();
  begin_to_spin(f);
  item* const a = f.make([&] { f.s.work_finished(); });
  item* const b = f.make([&] { f.s.work_finished(); });
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
  f.post(a);
  f.post(b);
}

void what_a_handler_leaves_behind_is_taken_by_who_spins() {
  fixture f(true, long_spin);
  gate opened;
  begin_to_spin(f);
  item* const b = f.make([&] { opened.open(); });
  f.post(f.make([&] {
    f.post(b);
    opened.wait();
  }));
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
}

// ---- calls nested in handlers

void a_post_is_taken_by_who_runs_in_a_handler() {
  fixture f;
  item* const a = f.make([&] { require(f.s.run_one() == 1, "a post is not taken"); });
  item* const b = f.make();
  f.post(a);
  thread worker([&] { f.run(); });
  f.post(b);
}

void what_a_call_in_a_handler_leaves_is_run(bool biased) {
  fixture f(biased);
  item* const b = f.make();
  item* const c = f.make();
  item* const d = f.make();
  item* const a = f.make([&] {
    f.post(b);
    f.post(c);
    f.s.poll_one();
    f.post(d);
  });
  f.post(a);
  thread one([&] { f.run(); });
  thread two([&] { f.run(); });
}

void what_a_handler_within_another_leaves_behind_is_taken() {
  fixture f;
  gate opened;
  item* const b = f.make([&] { opened.wait(); });
  item* const c = f.make([&] { opened.open(); });
  item* const a = f.make([&] {
    f.post(b);
    f.post(c);
    f.s.poll_one();
  });
  two_workers(f, [&] { f.post(a); });
}

void who_leaves_passes_on_watching() {
  fixture f;
  gate opened;
  item* const b = f.make([&] { opened.open(); });
  item* const a = f.make([&] {
    f.post(b);
    opened.wait();
  });
  f.post(a);
  thread blocks([&] { f.run(); });
  thread leaves([&] { f.s.run_one_until(model_clock::now() + 1us); });
  thread stays([&] { f.run(); });
}

}  // namespace

}  // namespace weft_under_model::detail

namespace {

using namespace weft_under_model::detail;

const model::options narrow{.preemptions = 2, .weak_choices = 0};
const model::options crowded{.preemptions = 1, .weak_choices = 0};
const model::options wide{.preemptions = 3, .weak_choices = 1};

std::vector<model::scenario> scenarios() {
  model::make_thread_local(scheduler_model::innermost_worker());
#define SCENARIO(name, limits) {#name, name, limits}
#define SCENARIO_OF_LOCKS(name, limits)             \
  {#name, [] { name(true); }, limits}, {            \
    #name " (no bias)", [] { name(false); }, limits \
  }
  return {SCENARIO(a_post_is_not_slept_through_by_who_parks, wide),
          SCENARIO(a_post_is_not_slept_through_by_who_polls, wide),
          SCENARIO(who_sees_it_stopped_sees_what_came_before, wide),
          SCENARIO(who_sees_it_restarted_sees_what_came_before, wide),
          SCENARIO(who_sees_it_out_of_work_sees_what_was_done, wide),
          SCENARIO(who_sees_it_out_of_work_sees_what_was_done_outside, wide),
          SCENARIO(who_returns_sees_what_was_done_outside, narrow),
          SCENARIO(a_driver_that_comes_late_is_polled, narrow),
          SCENARIO(a_foreign_loop_does_not_sleep_through_a_post, wide),
          SCENARIO(a_foreign_loop_does_not_sleep_through_an_event, wide),
          SCENARIO(a_foreign_loop_is_told_of_what_another_leaves, narrow),
          {"order_among_posts", [] { order_among_posts(false); }, narrow},
          {"order_among_posts (nested)", [] { order_among_posts(true); }, narrow},
          SCENARIO(no_stop_comes_late, narrow),
          SCENARIO(the_last_work_is_finished_outside, narrow),
          SCENARIO(stop_ends_every_run_and_restart_lets_them_go_on, narrow),
          SCENARIO(an_event_is_not_slept_through, narrow),
          SCENARIO(two_posts_and_two_workers, narrow),
          SCENARIO(who_leaves_in_time_passes_on_what_it_was_woken_for, narrow),
          SCENARIO_OF_LOCKS(who_leaves_passes_on_what_it_has_taken, narrow),
          SCENARIO(who_leaves_passes_on_polling, narrow),
          SCENARIO(who_only_looks_keeps_nobody, narrow),
          SCENARIO_OF_LOCKS(a_share_is_stolen, narrow),
          SCENARIO_OF_LOCKS(a_continuation_is_stolen_as_well, narrow),
          SCENARIO_OF_LOCKS(what_a_handler_leaves_behind_is_taken, narrow),
          SCENARIO_OF_LOCKS(a_continuation_behind_a_handler_that_blocks_is_taken, narrow),
          SCENARIO(what_a_handler_leaves_behind_is_taken_by_who_polls, narrow),
          SCENARIO(what_is_taken_with_a_handler_that_blocks_is_taken_again, narrow),
          SCENARIO(an_event_while_a_handler_blocks_is_taken, narrow),
          SCENARIO(an_event_that_comes_with_another_is_taken, narrow),
          SCENARIO(who_leaves_passes_on_watching, crowded),
          SCENARIO(a_post_is_not_slept_through_by_who_has_spun, wide),
          SCENARIO(a_post_ends_a_spin, wide),
          SCENARIO(an_event_ends_a_spin, narrow),
          SCENARIO(a_spin_ends_when_no_work_is_left, narrow),
          SCENARIO(a_stop_ends_a_spin, narrow),
          SCENARIO(two_posts_and_two_workers_that_spin, crowded),
          SCENARIO(what_a_handler_leaves_behind_is_taken_by_who_spins, crowded),
          SCENARIO(a_post_is_taken_by_who_runs_in_a_handler, narrow),
          SCENARIO_OF_LOCKS(what_a_call_in_a_handler_leaves_is_run, narrow),
          SCENARIO(what_a_handler_within_another_leaves_behind_is_taken, narrow)};
#undef SCENARIO
#undef SCENARIO_OF_LOCKS
}

TEST(scheduler_model, turns) {
  for (const auto run :
       {a_turn_is_long_only_among_short_handlers, a_turn_is_not_long_where_none_is_measured}) {
    const model::result r = model::explore(narrow, run);
    EXPECT_FALSE(r.failed) << r.message();
  }
}

// The orders of the biased lock have a model of their own.
TEST(scheduler_model, every_order_is_needed) {
  model::every_order_is_needed(scenarios(), {"scheduler/inbox.", "scheduler/queues.",
                                             "scheduler/scheduler.", "scheduler/sleep."});
}

// Far beyond the bounds of the others, but here and there only.
TEST(scheduler_model, withstands_any_order_of_events) {
  using clock = std::chrono::steady_clock;
  const auto all = scenarios();
  const auto time = weft_test::stress_time(std::chrono::milliseconds(500));
  const clock::time_point end = clock::now() + time;
  for (std::uint64_t seed = weft_test::stress_seed(); clock::now() < end; ++seed)
    for (const model::scenario& s : all) {
      const model::result r = model::explore(
          {.preemptions = 12, .weak_choices = 4, .random_executions = 20, .seed = seed}, s.run);
      ASSERT_FALSE(r.failed) << s.name << ", WEFT_SEED=" << seed << ": " << r.message();
    }
}

}  // namespace
