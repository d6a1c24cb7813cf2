// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_state.hpp>

#include <gtest/gtest.h>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;
using state = weft::detail::concurrent_resume_state<model::atomics>;

/// A resume_event whose coroutine takes values one after the other, on whichever thread resumes it.
/// The value, and what the coroutine has in its frame, are plain memory: two at once, or one that
/// does not see what the one before has done, is a data race.
class fixture {
 public:
  /// The coroutine: takes what is there, until it waits.
  void go_on() {
    for (;;) {
      waits.set(waits.get() + 1);
      taken.set(taken.get() + value.get());
      state_.take();
      if (wait())
        return;
    }
  }
  bool wait() {
    if (state_.has_value())
      return false;
    waits.set(waits.get() + 1);
    return state_.wait(this);
  }

  bool put(int v) {
    const std::uintptr_t seen = state_.begin_put();
    if (seen == state::full)
      return false;
    value.set(v);
    const std::uintptr_t waiting = seen ? seen : state_.end_put();
    if (waiting) {
      require(waiting == reinterpret_cast<std::uintptr_t>(this), "another coroutine");
      go_on();
    }
    return true;
  }

  model::var<int> value{0};
  model::var<int> taken{0};
  model::var<int> waits{0};
  state state_;
};

void one_waits_while_one_puts() {
  fixture f;
  bool waits = false;
  thread one([&] { require(f.put(1), "refused"); });
  waits = f.wait();
  if (!waits)
    f.go_on();
  one.join();
  require(f.taken.get() == 1, "lost");
}

void two_put_while_one_waits() {
  fixture f;
  require(f.wait(), "a value from nowhere");
  int expected = 0;
  {
    bool first = false;
    thread one([&] { first = f.put(1); });
    const bool second = f.put(2);
    one.join();
    require(first || second, "both are refused");
    expected = first + 2 * second;
  }
  require(f.taken.get() == expected, "lost or doubled");
}

void two_put_while_one_comes_to_wait() {
  fixture f;
  bool first = false;
  bool second = false;
  thread one([&] { first = f.put(1); });
  thread other([&] { second = f.put(2); });
  if (!f.wait())
    f.go_on();
  one.join();
  other.join();
  require(f.taken.get() == first + 2 * second, "lost or doubled");
}

TEST(resume_state_model, gives_each_value_once_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"one_waits_while_one_puts", one_waits_while_one_puts, {.preemptions = 3}},
       {"two_put_while_one_waits", two_put_while_one_waits, {.preemptions = 3}},
       {"two_put_while_one_comes_to_wait", two_put_while_one_comes_to_wait, {.preemptions = 2}}});
}

}  // namespace
