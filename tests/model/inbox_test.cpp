// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/inbox.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using inbox = weft::detail::basic_inbox<model::atomics>;
using model::require;
using model::thread;
using weft::detail::operation_queue;

/// An operation that counts how it ended, and brings a payload.
class item final : public weft::detail::operation {
 public:
  explicit item(int from) : operation(&end), pusher(from) {}

  const int pusher;
  model::var<int> payload{0};
  int ended = 0;

 private:
  static void end(operation* base, action) {
    auto* const self = static_cast<item*>(base);
    require(self->payload.get() == 1, "an operation without its payload");
    ++self->ended;
  }
};

/// What several threads push, and one takes out.
struct fixture {
  std::deque<item> items;
  std::vector<item*> taken;

  item* make(int pusher) { return &items.emplace_back(pusher); }

  void take_all(inbox& from) {
    for (weft::detail::operation* op = from.drain().first; op;) {
      taken.push_back(static_cast<item*>(op));
      std::exchange(op, operation_queue::next(op))->invoke();
    }
  }

  void check() const {
    std::deque<const item*> expected[model::detail::max_threads];
    for (const item& i : items) {
      require(i.ended == 1, i.ended == 0 ? "an operation is lost" : "an operation came twice");
      expected[i.pusher].push_back(&i);
    }
    for (const item* i : taken) {
      require(expected[i->pusher].front() == i, "operations of one thread have changed places");
      expected[i->pusher].pop_front();
    }
  }
};

void push(inbox& to, item* op) {
  op->payload.set(1);
  to.push(op);
}

void pushers_and_a_drainer() {
  fixture f;
  inbox box;
  item* const a[] = {f.make(1), f.make(1)};
  item* const b[] = {f.make(2), f.make(2)};
  thread one([&] {
    push(box, a[0]);
    push(box, a[1]);
  });
  thread two([&] {
    push(box, b[0]);
    push(box, b[1]);
  });
  f.take_all(box);
  if (!box.empty())
    f.take_all(box);
  one.join();
  two.join();
  f.take_all(box);
  require(box.empty(), "something is left after all was taken");
  f.check();
}

void destruction_with_operations_inside() {
  fixture f;
  {
    inbox box;
    item* const a[] = {f.make(1), f.make(1)};
    item* const b = f.make(2);
    thread one([&] {
      push(box, a[0]);
      push(box, a[1]);
    });
    thread two([&] { push(box, b); });
    f.take_all(box);
    one.join();
    two.join();
  }
  f.check();
}

// The one who drains sleeps if nobody has pushed, and who pushes wakes it if it sleeps.
void a_sleeper_and_a_pusher() {
  fixture f;
  inbox box;
  model::atomic<int> idle(0);
  bool sleeps = false, woken = false;
  item* const a = f.make(1);
  thread one([&] {
    push(box, a);
    woken = idle.load(std::memory_order_seq_cst) != 0;
  });
  idle.fetch_add(1, std::memory_order_seq_cst);
  sleeps = box.empty(std::memory_order_seq_cst);
  one.join();
  require(!sleeps || woken, "asleep beside an operation");
  f.take_all(box);
  f.check();
}

TEST(inbox_model, loses_nothing_keeps_order_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"pushers_and_a_drainer", pushers_and_a_drainer, {.preemptions = 3}},
       {"destruction_with_operations_inside",
        destruction_with_operations_inside,
        {.preemptions = 3}},
       {"a_sleeper_and_a_pusher", a_sleeper_and_a_pusher, {.preemptions = 4}}});
}

}  // namespace
