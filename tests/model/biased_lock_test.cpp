// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/biased_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

struct atomics : model::atomics {
  using where = std::source_location;
  static void light_barrier(where w = where::current()) { model::light_barrier(w); }
  static void heavy_barrier(where w = where::current()) { model::heavy_barrier(w); }
  static void yield() { model::yield(); }
};

using biased_lock = weft::detail::basic_biased_lock<atomics>;
using model::thread;

/// A queue's length, which its owner and others change under the lock: plain memory, so that two
/// at once, or one that does not see the other's change, is a data race.
class fixture {
 public:
  explicit fixture(bool biased = true) : lock(biased) {}
  ~fixture() { model::require(size.get() == expected, "a change is lost"); }

  void own(int times) {
    for (int i = 0; i != times; ++i) {
      if (lock.enter()) {
        size.set(size.get() + 1);
        lock.exit();
      } else {
        const std::lock_guard guard(mutex);
        size.set(size.get() + 1);
      }
    }
  }

  void steal() {
    const std::lock_guard guard(mutex);
    lock.revoke();
    size.set(size.get() - 1);
    lock.restore();
  }

  biased_lock lock;
  model::mutex mutex;
  model::var<int> size{0};
  int expected = 0;
};

void an_owner_and_a_thief() {
  fixture f;
  f.expected = 1;
  {
    thread owner([&] { f.own(2); });
    thread thief([&] { f.steal(); });
  }
}

void a_thief_that_comes_twice() {
  fixture f;
  f.expected = 0;
  {
    thread owner([&] { f.own(2); });
    thread thief([&] {
      f.steal();
      f.steal();
    });
  }
}

void two_thieves() {
  fixture f;
  f.expected = 0;
  {
    thread owner([&] { f.own(2); });
    thread one([&] { f.steal(); });
    thread other([&] { f.steal(); });
  }
}

TEST(biased_lock_model, excludes_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"an_owner_and_a_thief", an_owner_and_a_thief, {.preemptions = 4}},
       {"a_thief_that_comes_twice", a_thief_that_comes_twice, {.preemptions = 3}},
       {"two_thieves", two_thieves, {.preemptions = 2}}});
}

TEST(biased_lock_model, without_bias_is_the_mutex) {
  const model::result r = model::explore({.preemptions = 3}, [] {
    fixture f(false);
    f.expected = 0;
    thread owner([&] { f.own(1); });
    thread thief([&] { f.steal(); });
    owner.join();
    thief.join();
  });
  EXPECT_FALSE(r.failed) << r.message();
}

}  // namespace
