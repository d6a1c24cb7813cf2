// SPDX-License-Identifier: BSL-1.0
#include <weft/base/word_mutex.hpp>

#include <gtest/gtest.h>

#include <mutex>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

/// Where those sleep who wait for a word: who looks at it holds the lock that who wakes takes.
struct sleepers {
  model::mutex mutex;
  model::condition_variable woken;
};

struct atomics : model::atomics {
  static inline sleepers* asleep = nullptr;

  static void wait(const atomic<int>& word, int value) {
    std::unique_lock lock(asleep->mutex);
    if (word.load(std::memory_order_relaxed) == value)
      asleep->woken.wait(lock);
  }
  static void notify_one(atomic<int>&) {
    const std::lock_guard lock(asleep->mutex);
    asleep->woken.notify_one();
  }
};

using model::thread;

/// What the mutex guards is plain memory: two at once, or one that does not see what the one before
/// has done, is a data race. One that nobody wakes is a deadlock.
class fixture {
 public:
  explicit fixture(int times) : expected_(times) { atomics::asleep = &asleep_; }
  ~fixture() { model::require(count_.get() == expected_, "a change is lost"); }

  void change(int times) {
    for (int i = 0; i != times; ++i) {
      const std::lock_guard lock(mutex_);
      count_.set(count_.get() + 1);
    }
  }

 private:
  sleepers asleep_;
  weft::detail::basic_word_mutex<atomics> mutex_;
  model::var<int> count_{0};
  const int expected_;
};

void two_that_come_twice() {
  fixture f(4);
  {
    thread one([&] { f.change(2); });
    thread other([&] { f.change(2); });
  }
}

void three_that_come_once() {
  fixture f(3);
  {
    thread first([&] { f.change(1); });
    thread second([&] { f.change(1); });
    thread third([&] { f.change(1); });
  }
}

TEST(word_mutex_model, excludes_and_wakes_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"two_that_come_twice", two_that_come_twice, {.preemptions = 3}},
       {"three_that_come_once", three_that_come_once, {.preemptions = 2}}});
}

}  // namespace
