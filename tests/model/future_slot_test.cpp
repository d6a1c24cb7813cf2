// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <weft/sync/future_slot.hpp>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using slot = weft::detail::basic_future_slot<model::atomics>;
using weft::detail::future_waiter;

/// A future whose result, and whose waiter's own data, are plain memory.
struct shared {
  slot hand_over;
  model::var<int> result{0};

  void produce() {
    result.set(7);
    hand_over.fulfil([](future_waiter& w) { w.ready(); }, [this] { end(); });
  }
  void end() {
    require(result.get() == 7, "ended without a result");
    require(used.get() == 1, "ended before the last use");
    used.set(2);
    ++ended;
  }
  model::var<int> used{0};
  int ended = 0;
};

struct waiter final : future_waiter {
  explicit waiter(shared& s) noexcept : future_waiter(&tell), of(s) {}

  static void tell(future_waiter* base) noexcept {
    auto* const self = static_cast<waiter*>(base);
    require(self->data.get() == 1, "told before it was made");
    require(self->of.result.get() == 7, "told without a result");
    self->data.set(2);
    ++self->told;
  }

  shared& of;
  model::var<int> data{0};
  int told = 0;
};

void a_result_comes_beside_who_attaches() {
  shared s;
  waiter w(s);
  model::thread producer([&] { s.produce(); });
  w.data.set(1);
  const auto arrival = s.hand_over.attach(w);
  require(arrival != slot::arrival::is_taken, "nobody else waits");
  if (arrival == slot::arrival::is_ready)
    require(s.result.get() == 7, "ready without a result");
  producer.join();
  require(w.told == (arrival == slot::arrival::waits), "told twice, or never");
}

void a_result_is_looked_for() {
  shared s;
  model::thread producer([&] { s.produce(); });
  if (s.hand_over.is_ready())
    require(s.result.get() == 7, "ready without a result");
  producer.join();
}

void the_last_who_could_wait_leaves_beside_the_result() {
  shared s;
  model::thread producer([&] { s.produce(); });
  s.used.set(1);
  if (!s.hand_over.abandon())
    s.end();
  producer.join();
  require(s.ended == 1, "ended twice, or never");
}

void a_waiter_gives_up_on_another_thread_beside_the_result() {
  shared s;
  waiter w(s);
  bool given_up = false;
  model::thread producer([&] { s.produce(); });
  model::thread canceller([&] {
    if (s.hand_over.detach(w)) {
      require(w.data.get() == 1, "taken away before it was made");
      w.data.set(3);
      given_up = true;
    }
  });
  w.data.set(1);
  const bool waits = s.hand_over.attach(w) == slot::arrival::waits;
  producer.join();
  canceller.join();
  require(w.told + given_up == waits, "told and given up, or neither");
}

void who_comes_too_late_to_give_up_has_the_result() {
  shared s;
  waiter w(s);
  w.data.set(1);
  const bool waits = s.hand_over.attach(w) == slot::arrival::waits;
  model::thread producer([&] { s.produce(); });
  if (!s.hand_over.detach(w))
    require(s.result.get() == 7, "too late without a result");
  producer.join();
  require(waits, "nobody was before");
}

void another_attaches_after_one_gave_up() {
  shared s;
  waiter first(s);
  waiter second(s);
  model::thread producer([&] { s.produce(); });
  first.data.set(1);
  second.data.set(1);
  if (s.hand_over.attach(first) == slot::arrival::waits && s.hand_over.detach(first)) {
    const bool waits = s.hand_over.attach(second) == slot::arrival::waits;
    producer.join();
    require(first.told == 0 && second.told == waits, "the wrong one is told");
  }
}

TEST(future_slot_model, hands_over_once_and_needs_its_orders) {
  model::every_order_is_needed({
      {"a_result_comes_beside_who_attaches",
       a_result_comes_beside_who_attaches,
       {.preemptions = 3}},
      {"a_result_is_looked_for", a_result_is_looked_for, {.preemptions = 3}},
      {"the_last_who_could_wait_leaves_beside_the_result",
       the_last_who_could_wait_leaves_beside_the_result,
       {.preemptions = 3}},
      {"a_waiter_gives_up_on_another_thread_beside_the_result",
       a_waiter_gives_up_on_another_thread_beside_the_result,
       {.preemptions = 3}},
      {"who_comes_too_late_to_give_up_has_the_result",
       who_comes_too_late_to_give_up_has_the_result,
       {.preemptions = 3}},
      {"another_attaches_after_one_gave_up",
       another_attaches_after_one_gave_up,
       {.preemptions = 3}},
  });
}

}  // namespace
