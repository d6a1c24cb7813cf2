// SPDX-License-Identifier: BSL-1.0
#include "io/timer_lock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

struct atomics : model::atomics {
  using where = std::source_location;
  static std::uint64_t thread_number() {
    return static_cast<std::uint64_t>(model::this_thread()) + 1;
  }
  static std::uint64_t known_thread_number() { return thread_number(); }
  static void light_barrier(where w = where::current()) { model::light_barrier(w); }
  static void heavy_barrier(where w = where::current()) { model::heavy_barrier(w); }
  static void yield() { model::yield(); }
};

using timer_lock = weft::detail::basic_timer_lock<atomics>;
using model::thread;

/// A number that threads increase under the lock: plain memory, so that two at once, or one that
/// does not see another's change, is a data race.
class fixture {
 public:
  /// `patience` uses in a row make an owner.
  explicit fixture(unsigned patience) : lock(true, patience) {}

  void add(int times) {
    for (int i = 0; i != times; ++i) {
      const std::lock_guard guard(lock);
      sum.set(sum.get() + 1);
    }
  }

  timer_lock lock;
  model::var<int> sum{0};
};

void run(unsigned patience, int mine, int first, int second) {
  fixture f(patience);
  {
    f.add(mine);
    thread one([&] { f.add(first); });
    thread other([&] { f.add(second); });
  }
  model::require(f.sum.get() == mine + first + second, "an increment is lost");
}

// One thread is the owner when others come; they may be owners after it.
void an_owner_and_another() {
  run(1, 0, 3, 1);
}
void owners_in_turn() {
  run(1, 1, 2, 2);
}
void an_owner_later() {
  run(2, 0, 3, 1);
}

// One thread has been the owner, and is about to find that out, while another takes the lock often
// enough to be one, had there been none.
void an_owner_and_one_that_keeps_taking() {
  run(1, 0, 2, 3);
}

TEST(timer_lock_model, excludes_and_needs_its_orders) {
  model::every_order_is_needed({{"an_owner_and_another", an_owner_and_another, {.preemptions = 3}},
                                {"owners_in_turn", owners_in_turn, {.preemptions = 2}},
                                {"an_owner_later", an_owner_later, {.preemptions = 3}},
                                {"an_owner_and_one_that_keeps_taking",
                                 an_owner_and_one_that_keeps_taking,
                                 {.preemptions = 4}}});
}

}  // namespace
