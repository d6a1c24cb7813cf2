// SPDX-License-Identifier: BSL-1.0
#include "context/strand_queue.ipp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;

struct strand_atomics : model::atomics {
  static constexpr unsigned longest_turn = 2;
};
using strand_queue = weft::detail::basic_strand_queue<strand_atomics>;
using weft::detail::operation_queue;

/// A strand, and an executor that any thread may lend a hand. What the strand's functions touch is
/// plain memory: two at once, or one that does not see what the one before has done, is a data
/// race.
class fixture {
 public:
  /// A function of the strand that one thread pushes.
  class function final : public weft::detail::operation {
   public:
    function(fixture& owner, int from, bool will_throw)
        : operation(&end), owner_(owner), pusher(from), throws(will_throw) {}

    fixture& owner_;
    const int pusher;
    const bool throws;
    int runs = 0;
    int destructions = 0;

   private:
    static void end(operation* base, action what) {
      auto* const self = static_cast<function*>(base);
      if (what == action::destroy) {
        ++self->destructions;
        return;
      }
      ++self->runs;
      self->owner_.enter_and_leave();
      self->owner_.done.push_back(self);
      if (self->throws)
        throw self->pusher;
    }
  };

  ~fixture() {
    std::deque<const function*> expected[model::detail::max_threads];
    for (const function& f : functions) {
      require(f.runs + f.destructions != 0, "a function is lost");
      require(f.runs + f.destructions == 1, "a function came twice");
      if (f.runs == 1)
        expected[f.pusher].push_back(&f);
    }
    for (const function* f : done) {
      require(expected[f->pusher].front() == f, "functions of one thread have changed places");
      expected[f->pusher].pop_front();
    }
  }

  function* make(int pusher, bool throws = false) {
    return &functions.emplace_back(*this, pusher, throws);
  }

  /// The body of a function of the strand.
  void enter_and_leave() {
    touched.set(touched.get() + 1);
    inside.fetch_add(1, std::memory_order_relaxed);
    inside.fetch_sub(1, std::memory_order_relaxed);
  }

  void push(function* f) {
    if (queue.push(f))
      submit();
  }

  void submit() {
    const std::lock_guard lock(mutex);
    ++submitted;
  }

  /// What a thread of the executor does with one submission. False if there is none.
  bool help() {
    {
      const std::lock_guard lock(mutex);
      if (submitted == 0)
        return false;
      --submitted;
    }
    run();
    return true;
  }

  void run(strand_queue::immediate first = {nullptr, nullptr}) {
    try {
      queue.run(
          [this]() noexcept {
            if (can_submit_again)
              submit();
            return can_submit_again;
          },
          [](const weft::detail::operation&) noexcept {}, first);
    } catch (int from) {
      const std::lock_guard lock(mutex);
      ++caught;
      thrown_by = from;
    }
  }

  void help_to_the_end() {
    while (help()) {}
  }

  std::deque<function> functions;
  std::vector<const function*> done;  // by the strand's functions
  model::var<int> touched{0};
  model::atomic<int> inside{0};  // only so that others may come in between
  strand_queue queue;
  model::mutex mutex;
  int submitted = 0;
  int caught = 0;
  int thrown_by = 0;  // at last
  bool can_submit_again = true;
};

void expect_no_failure(const model::options& limits, const std::function<void()>& scenario) {
  model::no_order_is_needed({{"strand", scenario, limits}});
}

TEST(strand_model, runs_every_function_in_order_and_never_two_at_once) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    fixture::function* const a[] = {f.make(1), f.make(1)};
    fixture::function* const b = f.make(2);
    thread one([&] {
      f.push(a[0]);
      f.push(a[1]);
    });
    thread two([&] {
      f.push(b);
      f.help();
    });
    thread helper([&] {
      f.help();
      f.help();
    });
    one.join();
    two.join();
    helper.join();
    f.help_to_the_end();
  });
}

TEST(strand_model, a_thread_that_enters_excludes_the_others) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    fixture::function* const a = f.make(1);
    fixture::function* const b = f.make(2);
    thread one([&] {
      f.push(a);
      f.help();
    });
    thread two([&] {
      if (f.queue.try_enter())
        f.run({[](void* self) { static_cast<fixture*>(self)->enter_and_leave(); }, &f});
      f.push(b);
    });
    one.join();
    two.join();
    f.help_to_the_end();
  });
}

TEST(strand_model, a_function_that_throws_loses_none_of_the_others) {
  for (const bool can_submit_again : {true, false})
    expect_no_failure({.preemptions = 4, .weak_choices = 0}, [=] {
      fixture f;
      f.can_submit_again = can_submit_again;
      fixture::function* const a[] = {f.make(1, true), f.make(1), f.make(1)};
      thread one([&] {
        for (fixture::function* each : a)
          f.push(each);
      });
      thread two([&] { f.help(); });
      one.join();
      two.join();
      f.help_to_the_end();
      require(f.caught == 1, "the exception is lost");
    });
}

TEST(strand_model, throws_the_first_exception_if_it_cannot_be_submitted_again) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    f.can_submit_again = false;
    fixture::function* const a = f.make(1, true);
    fixture::function* const b = f.make(2, true);
    thread one([&] { f.push(a); });
    thread two([&] {
      f.push(b);
      f.help();
    });
    one.join();
    two.join();
    f.help_to_the_end();
    require(f.caught == 2 || f.thrown_by == f.done.front()->pusher, "a later exception is thrown");
  });
}

TEST(strand_model, goes_on_inline_if_it_cannot_be_submitted_again) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    f.can_submit_again = false;
    fixture::function* const a[] = {f.make(1), f.make(1)};
    fixture::function* const b = f.make(2);
    thread one([&] {
      f.push(a[0]);
      f.push(a[1]);
    });
    thread two([&] {
      f.push(b);
      f.help();
    });
    one.join();
    two.join();
    f.help_to_the_end();
  });
}

TEST(strand_model, a_submission_that_fails_takes_back_its_own_function_only) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    fixture::function* const a = f.make(1);
    fixture::function* const b[] = {f.make(2), f.make(2)};
    thread one([&] {
      if (!f.queue.push(a))
        return;
      const unsigned ticket = f.queue.ticket();
      // The executor has no memory.
      weft::detail::operation* op = a;
      const bool must_run = f.queue.take_back(ticket, op);
      require(op == a, "nobody else had the right to run it");
      op->destroy();
      if (must_run)
        f.run();
    });
    thread two([&] {
      f.push(b[0]);
      f.push(b[1]);
      f.help();
    });
    one.join();
    two.join();
    f.help_to_the_end();
    require(b[0]->runs == 1 && b[1]->runs == 1, "another's function is destroyed");
  });
}

TEST(strand_model, a_submission_that_fails_after_the_strand_has_run_takes_back_nothing) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    fixture::function* const a = f.make(1);
    fixture::function* const b = f.make(2);
    thread one([&] {
      if (!f.queue.push(a))
        return;
      const unsigned ticket = f.queue.ticket();
      f.run();  // the executor runs it inside the submission
      weft::detail::operation* op = a;
      require(!f.queue.take_back(ticket, op) && !op, "the right to run is given twice");
    });
    thread two([&] { f.push(b); });
    one.join();
    two.join();
    f.help_to_the_end();
  });
}

TEST(strand_model, closing_ends_every_function_once) {
  expect_no_failure({.preemptions = 4, .weak_choices = 0}, [] {
    fixture f;
    fixture::function* const c = f.make(3);
    fixture::function* const a[] = {f.make(1), f.make(1)};
    fixture::function* const b = f.make(2);
    thread one([&] {
      f.push(a[0]);
      f.push(a[1]);
    });
    thread two([&] {
      f.push(b);
      f.help();
    });
    {
      operation_queue abandoned;
      f.queue.close(abandoned);
    }
    require(!f.queue.try_enter() && !f.queue.push(c), "the right to run a closed strand is given");
    require(c->destructions == 1, "a function waits in a closed strand");
    one.join();
    two.join();
    f.help_to_the_end();
  });
}

}  // namespace
