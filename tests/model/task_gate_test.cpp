// SPDX-License-Identifier: BSL-1.0
#include <weft/base/task_gate.hpp>

#include <gtest/gtest.h>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

struct atomics : model::atomics {
  using where = std::source_location;
  static void light_barrier(where w = where::current()) { model::light_barrier(w); }
  static bool heavy_barrier(where w = where::current()) {
    model::heavy_barrier(w);
    return true;
  }
  static void wait(const model::atomic<std::uint32_t>&, std::uint32_t) { model::yield(); }
  static void notify_all(model::atomic<std::uint32_t>&) {}
};

using gate = weft::detail::basic_task_gate<atomics>;
using slot = weft::detail::basic_task_slot<atomics>;
using record = weft::detail::basic_task_record<atomics>;
using model::thread;

/// A task, in plain memory: what two touch at once is a data race.
struct task : record {
  model::var<int> spawned{0};
  model::var<int> frame{0};

  void begin(slot& s) {
    spawned.set(1);
    record::begins(s);
  }
  void wait(int where) {
    frame.set(where);
    record::waits("");
  }
  void go_on(gate& g) {
    record::goes_on(g);
    frame.set(0);
  }
  void end(slot& s, gate& g) {
    record::ends(s, g);
    frame.set(0);
    spawned.set(0);
  }
};

struct fixture {
  gate g;
  slot s;
  task first;
  task second;

  void read() {
    model::require(g.read([this] {
      const auto* const t = static_cast<const task*>(s.read());
      if (!t)
        return;
      model::require(t->spawned.get() == 1, "a task that is not there is read");
      if (t->waits_for())
        model::require(t->frame.get() != 0, "a task that does not wait is read");
    }),
                   "the barrier is refused");
  }
};

void a_task_that_waits_twice() {
  fixture f;
  {
    thread runner([&] {
      f.first.begin(f.s);
      f.first.wait(1);
      f.first.go_on(f.g);
      f.first.wait(2);
      f.first.go_on(f.g);
      f.first.end(f.s, f.g);
    });
    thread reader([&] { f.read(); });
  }
}

void a_task_that_waits_once_and_two_rounds() {
  fixture f;
  {
    thread runner([&] {
      f.first.begin(f.s);
      f.first.wait(1);
      f.first.go_on(f.g);
      f.first.end(f.s, f.g);
    });
    thread reader([&] {
      f.read();
      f.read();
    });
  }
}

void tasks_that_have_the_slot_in_turn() {
  fixture f;
  {
    thread runner([&] {
      f.first.begin(f.s);
      f.first.end(f.s, f.g);
      f.second.begin(f.s);
      f.second.wait(1);
      f.second.end(f.s, f.g);
    });
    thread reader([&] { f.read(); });
  }
}

void a_task_that_another_thread_resumes() {
  fixture f;
  model::atomic<bool> is_pending{false};
  f.first.begin(f.s);
  {
    thread starter([&] {
      f.first.wait(1);
      is_pending.store(true, std::memory_order_release);
    });
    thread resumer([&] {
      while (!is_pending.load(std::memory_order_acquire))
        model::yield();
      f.first.go_on(f.g);
      f.first.end(f.s, f.g);
    });
    thread reader([&] { f.read(); });
  }
}

TEST(task_gate_model, holds_up_whom_it_reads_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"a_task_that_waits_twice", a_task_that_waits_twice, {.preemptions = 3}},
       {"a_task_that_waits_once_and_two_rounds",
        a_task_that_waits_once_and_two_rounds,
        {.preemptions = 3}},
       {"tasks_that_have_the_slot_in_turn", tasks_that_have_the_slot_in_turn, {.preemptions = 3}},
       {"a_task_that_another_thread_resumes",
        a_task_that_another_thread_resumes,
        {.preemptions = 2}}});
}

TEST(task_gate_model, without_barriers_is_the_mutex) {
  const model::result r = model::explore({.preemptions = 3}, [] {
    fixture f;
    f.g.close_for_good();
    thread runner([&] {
      f.first.begin(f.s);
      f.first.wait(1);
      f.first.go_on(f.g);
      f.first.end(f.s, f.g);
    });
    thread reader([&] {
      f.read();
      f.read();
    });
    runner.join();
    reader.join();
  });
  EXPECT_FALSE(r.failed) << r.message();
}

}  // namespace
