// SPDX-License-Identifier: BSL-1.0
// The checker's own tests: the classic litmus tests, each with the outcomes that C++20 allows and
// those it forbids, and everything else that a failure may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "model/checker/atomic.hpp"
#include "model/checker/checker.hpp"
#include "model/checker/mutex.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::atomic;
using model::explore;
using model::options;
using model::require;
using model::thread;
using model::var;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

using outcome = std::vector<int>;
using outcomes = std::set<outcome>;

/// All outcomes of a litmus test, which returns one.
template <class Litmus>
outcomes all(Litmus litmus, options limits = {.preemptions = 4, .weak_choices = 4}) {
  outcomes found;
  const model::result r = explore(limits, [&] { found.insert(litmus()); });
  EXPECT_FALSE(r.failed) << r.message();
  return found;
}

std::string failure(const std::function<void()>& scenario, options limits = {}) {
  return explore(limits, scenario).reason;
}

outcome store_buffering(std::memory_order store, std::memory_order load) {
  atomic<int> x(0), y(0);
  int a = 0, b = 0;
  thread one([&] {
    x.store(1, store);
    a = y.load(load);
  });
  thread two([&] {
    y.store(1, store);
    b = x.load(load);
  });
  one.join();
  two.join();
  return {a, b};
}

TEST(litmus, store_buffering_needs_seq_cst) {
  EXPECT_EQ(all([] { return store_buffering(seq_cst, seq_cst); }),
            (outcomes{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(all([] { return store_buffering(release, acquire); }).count({0, 0}), 1u);
  EXPECT_EQ(all([] { return store_buffering(seq_cst, acquire); }).count({0, 0}), 1u);
  EXPECT_EQ(all([] { return store_buffering(release, seq_cst); }).count({0, 0}), 1u);
}

outcome store_buffering_with_exchange(std::memory_order order) {
  atomic<int> x(0), y(0);
  int a = 0, b = 0;
  thread one([&] {
    x.exchange(1, order);
    a = y.load(seq_cst);
  });
  thread two([&] {
    y.exchange(1, seq_cst);
    b = x.load(seq_cst);
  });
  one.join();
  two.join();
  return {a, b};
}

TEST(litmus, a_read_modify_write_that_is_not_seq_cst_is_no_store_load_barrier) {
  EXPECT_EQ(all([] { return store_buffering_with_exchange(seq_cst); }).count({0, 0}), 0u);
  EXPECT_EQ(all([] { return store_buffering_with_exchange(acq_rel); }).count({0, 0}), 1u);
}

outcome store_buffering_with_barriers(bool heavy, bool light) {
  atomic<int> x(0), y(0);
  int a = 0, b = 0;
  thread one([&] {
    x.store(1, relaxed);
    if (light)
      model::light_barrier();
    a = y.load(relaxed);
  });
  thread two([&] {
    y.store(1, relaxed);
    heavy ? model::heavy_barrier() : model::light_barrier();
    b = x.load(relaxed);
  });
  one.join();
  two.join();
  return {a, b};
}

TEST(litmus, a_light_and_a_heavy_barrier_are_one_together_but_not_two_light_ones) {
  EXPECT_EQ(all([] { return store_buffering_with_barriers(true, true); }),
            (outcomes{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(all([] { return store_buffering_with_barriers(false, true); }).count({0, 0}), 1u);
  EXPECT_EQ(all([] { return store_buffering_with_barriers(true, false); }).count({0, 0}), 1u);
}

outcome message_passing(std::memory_order store, std::memory_order load) {
  atomic<int> data(0), flag(0);
  int a = 0, b = 0;
  thread one([&] {
    data.store(1, relaxed);
    flag.store(1, store);
  });
  thread two([&] {
    a = flag.load(load);
    b = data.load(relaxed);
  });
  one.join();
  two.join();
  return {a, b};
}

TEST(litmus, message_passing_needs_release_and_acquire) {
  EXPECT_EQ(all([] { return message_passing(release, acquire); }),
            (outcomes{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(all([] { return message_passing(seq_cst, seq_cst); }).count({1, 0}), 0u);
  EXPECT_EQ(all([] { return message_passing(relaxed, acquire); }).count({1, 0}), 1u);
  EXPECT_EQ(all([] { return message_passing(release, relaxed); }).count({1, 0}), 1u);
}

// C++20 allows {1, 1}; see checker.hpp.
TEST(litmus, load_buffering_is_not_produced) {
  EXPECT_EQ(all([] {
              atomic<int> x(0), y(0);
              int a = 0, b = 0;
              thread one([&] {
                a = x.load(relaxed);
                y.store(1, relaxed);
              });
              thread two([&] {
                b = y.load(relaxed);
                x.store(1, relaxed);
              });
              one.join();
              two.join();
              return outcome{a, b};
            }),
            (outcomes{{0, 0}, {0, 1}, {1, 0}}));
}

outcome independent_reads(std::memory_order store, std::memory_order load) {
  atomic<int> x(0), y(0);
  int a = 0, b = 0, c = 0, d = 0;
  thread one([&] { x.store(1, store); });
  thread two([&] { y.store(1, store); });
  thread three([&] {
    a = x.load(load);
    b = y.load(load);
  });
  thread four([&] {
    c = y.load(load);
    d = x.load(load);
  });
  one.join();
  two.join();
  three.join();
  four.join();
  return {a, b, c, d};
}

TEST(litmus, independent_readers_agree_on_the_order_of_writes_only_with_seq_cst) {
  const outcome disagree{1, 0, 1, 0};
  const auto all_of = [](std::memory_order store, std::memory_order load) {
    return all([=] { return independent_reads(store, load); }, {.preemptions = 2});
  };
  EXPECT_EQ(all_of(seq_cst, seq_cst).count(disagree), 0u);
  EXPECT_EQ(all_of(release, acquire).count(disagree), 1u);
  EXPECT_EQ(all_of(seq_cst, acquire).count(disagree), 1u);
  // Reads are ordered against each other even where the stores are not seq_cst.
  EXPECT_EQ(all_of(relaxed, seq_cst).count(disagree), 0u);
}

TEST(litmus, reads_of_one_object_never_go_back) {
  const auto found = all([] {
    atomic<int> x(0);
    int a = 0, b = 0;
    thread one([&] {
      x.store(1, relaxed);
      x.store(2, relaxed);
    });
    thread two([&] {
      a = x.load(relaxed);
      b = x.load(relaxed);
    });
    one.join();
    two.join();
    return outcome{a, b};
  });
  EXPECT_EQ(found, (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(litmus, readers_agree_on_the_order_of_writes_to_one_object) {
  const auto found = all([] {
    atomic<int> x(0);
    int a = 0, b = 0, c = 0, d = 0;
    thread one([&] { x.store(1, relaxed); });
    thread two([&] { x.store(2, relaxed); });
    thread three([&] {
      a = x.load(relaxed);
      b = x.load(relaxed);
    });
    c = x.load(relaxed);
    d = x.load(relaxed);
    one.join();
    two.join();
    three.join();
    return outcome{a, b, c, d};
  });
  EXPECT_EQ(found.count({1, 2, 2, 1}), 0u);
  EXPECT_EQ(found.count({1, 2, 1, 2}), 1u);
  EXPECT_EQ(found.count({2, 1, 2, 1}), 1u);
}

outcome two_plus_two_writes(std::memory_order order) {
  atomic<int> x(0), y(0);
  thread one([&] {
    x.store(1, order);
    y.store(2, order);
  });
  thread two([&] {
    y.store(1, order);
    x.store(2, order);
  });
  one.join();
  two.join();
  return {x.load(relaxed), y.load(relaxed)};
}

TEST(litmus, two_by_two_writes_may_cross_unless_they_are_seq_cst) {
  EXPECT_EQ(all([] { return two_plus_two_writes(seq_cst); }), (outcomes{{2, 1}, {2, 2}, {1, 2}}));
  EXPECT_EQ(all([] { return two_plus_two_writes(release); }).count({1, 1}), 1u);
  EXPECT_EQ(all([] { return two_plus_two_writes(relaxed); }).count({1, 1}), 1u);
}

outcome passing_on(bool by_modify) {
  atomic<int> flag(0), data(0);
  int a = 0, b = 0;
  thread one([&] {
    data.store(1, relaxed);
    flag.store(1, release);
  });
  thread two([&] {
    if (by_modify) {
      int expected = 1;
      flag.compare_exchange_strong(expected, 2, relaxed, relaxed);
    } else if (flag.load(relaxed) == 1) {
      flag.store(2, relaxed);
    }
  });
  thread three([&] {
    a = flag.load(acquire);
    b = data.load(relaxed);
  });
  one.join();
  two.join();
  three.join();
  return {a, b};
}

TEST(litmus, a_relaxed_read_modify_write_continues_a_release_sequence_and_a_store_does_not) {
  const auto continued = all([] { return passing_on(true); });
  EXPECT_EQ(continued.count({2, 0}), 0u);
  EXPECT_EQ(continued.count({2, 1}), 1u);
  EXPECT_EQ(all([] { return passing_on(false); }).count({2, 0}), 1u);
}

// In C++17 a later store of the same thread continued the sequence.
TEST(litmus, a_store_of_the_same_thread_continues_no_release_sequence) {
  const auto found = all([] {
    atomic<int> flag(0), data(0);
    int a = 0, b = 0;
    thread one([&] {
      data.store(1, relaxed);
      flag.store(1, release);
      flag.store(2, relaxed);
    });
    thread two([&] {
      a = flag.load(acquire);
      b = data.load(relaxed);
    });
    one.join();
    two.join();
    return outcome{a, b};
  });
  EXPECT_EQ(found.count({1, 0}), 0u);
  EXPECT_EQ(found.count({2, 0}), 1u);
}

TEST(litmus, read_modify_writes_lose_nothing) {
  EXPECT_EQ(all([] {
              atomic<int> n(0);
              thread one([&] { n.fetch_add(1, relaxed); });
              thread two([&] { n.fetch_add(2, relaxed); });
              n.fetch_sub(4, relaxed);
              one.join();
              two.join();
              return outcome{n.load(relaxed)};
            }),
            (outcomes{{-1}}));
}

TEST(litmus, only_one_of_two_compare_exchanges_succeeds) {
  EXPECT_EQ(all([] {
              atomic<int> n(0);
              int a = 0, b = 0;
              thread one([&] {
                int expected = 0;
                a = n.compare_exchange_strong(expected, 1, relaxed);
              });
              thread two([&] {
                int expected = 0;
                b = n.compare_exchange_strong(expected, 2, relaxed);
              });
              one.join();
              two.join();
              return outcome{a, b};
            }),
            (outcomes{{0, 1}, {1, 0}}));
}

TEST(litmus, a_weak_compare_exchange_fails_for_no_reason_and_a_strong_one_does_not) {
  const auto lone = [](bool weak) {
    return all([weak] {
      atomic<int> n(0);
      int expected = 0;
      return outcome{weak ? n.compare_exchange_weak(expected, 1)
                          : n.compare_exchange_strong(expected, 1)};
    });
  };
  EXPECT_EQ(lone(true), (outcomes{{0}, {1}}));
  EXPECT_EQ(lone(false), (outcomes{{1}}));
}

TEST(litmus, bits_are_set_and_cleared) {
  EXPECT_EQ(all([] {
              atomic<unsigned> bits(6);
              thread one([&] { bits.fetch_or(1, relaxed); });
              bits.fetch_and(~2u, relaxed);
              one.join();
              return outcome{static_cast<int>(bits.exchange(0, relaxed)),
                             static_cast<int>(bits.load(relaxed))};
            }),
            (outcomes{{5, 0}}));
}

// ---- failures

TEST(checker, plain_memory_passed_on_by_relaxed_atomics_is_a_data_race) {
  const auto pass_on = [](std::memory_order store, std::memory_order load) {
    return failure([=] {
      var<int> data(0);
      atomic<bool> ready(false);
      thread one([&] {
        data.set(1);
        ready.store(true, store);
      });
      if (ready.load(load))
        require(data.get() == 1, "old data");
      one.join();
    });
  };
  EXPECT_EQ(pass_on(release, acquire), "");
  EXPECT_NE(pass_on(relaxed, acquire).find("data race"), std::string::npos);
  EXPECT_NE(pass_on(release, relaxed).find("data race"), std::string::npos);
}

TEST(checker, a_write_beside_a_read_is_a_data_race) {
  EXPECT_NE(failure([] {
              var<int> data(0);
              thread one([&] { data.get(); });
              data.set(1);
            }).find("data race"),
            std::string::npos);
}

TEST(checker, a_count_of_references_must_acquire_and_release_before_destruction) {
  const auto count = [](std::memory_order order) {
    struct shared {
      atomic<int> references{2};
      var<int> data{0};
    };
    return failure([order] {
      auto* const object = new shared;
      const auto drop = [=] {
        object->data.get();
        if (object->references.fetch_sub(1, order) == 1)
          delete object;
      };
      thread one(drop);
      drop();
    });
  };
  EXPECT_EQ(count(acq_rel), "");
  EXPECT_NE(count(acquire).find("data race"), std::string::npos);
  EXPECT_NE(count(release).find("data race"), std::string::npos);
}

TEST(checker, a_mutex_excludes_and_passes_on) {
  EXPECT_EQ(failure([] {
              model::mutex m;
              var<int> data(0);
              const auto add = [&] {
                const std::lock_guard lock(m);
                data.set(data.get() + 1);
              };
              thread one(add);
              thread two(add);
              add();
              one.join();
              two.join();
              require(data.get() == 3, "an addition is lost");
            }),
            "");
}

TEST(checker, a_mutex_that_is_tried_is_taken_if_it_is_free) {
  const outcomes found = all([] {
    model::mutex m;
    var<int> data(0);
    atomic<int> other(0);
    int read = -1;
    thread one([&] {
      const std::lock_guard lock(m);
      data.set(1);
      other.store(1, relaxed);
    });
    if (const std::unique_lock lock(m, std::try_to_lock); lock)
      read = data.get();
    one.join();
    return outcome{read};
  });
  EXPECT_EQ(found, (outcomes{{-1}, {0}, {1}}));
}

TEST(checker, two_mutexes_locked_in_both_orders_are_a_deadlock) {
  EXPECT_EQ(failure([] {
              model::mutex a, b;
              thread one([&] {
                const std::lock_guard first(a);
                const std::lock_guard second(b);
              });
              const std::lock_guard first(b);
              const std::lock_guard second(a);
            }),
            "deadlock: every thread waits");
}

TEST(checker, a_notification_between_test_and_wait_is_lost) {
  const auto wait = [](bool under_the_lock) {
    return failure([=] {
      model::mutex m;
      model::condition_variable c;
      atomic<bool> ready(false);
      thread one([&] {
        {
          std::unique_lock l(m, std::defer_lock);
          if (under_the_lock)
            l.lock();
          ready.store(true, seq_cst);
        }
        c.notify_one();
      });
      std::unique_lock l(m);
      while (!ready.load(seq_cst))
        c.wait(l);
    });
  };
  EXPECT_EQ(wait(true), "");
  EXPECT_EQ(wait(false), "deadlock: every thread waits");
}

TEST(checker, a_wait_with_a_deadline_times_out_or_is_notified) {
  std::set<std::cv_status> found;
  EXPECT_EQ(failure([&] {
              model::mutex m;
              model::condition_variable c;
              bool ready = false;
              thread one([&] {
                const std::lock_guard l(m);
                ready = true;
                c.notify_all();
              });
              std::unique_lock l(m);
              if (!ready)
                found.insert(c.wait_until(l, 0));
            }),
            "");
  EXPECT_EQ(found.size(), 2u);
}

TEST(checker, each_choice_of_a_scenario_is_explored) {
  EXPECT_EQ(all([] {
              const auto first = static_cast<int>(model::choose(2));
              return outcome{first, static_cast<int>(model::choose(3))};
            }),
            (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
}

TEST(checker, threads_that_wait_for_each_other_by_spinning_are_a_livelock) {
  EXPECT_NE(failure(
                [] {
                  atomic<bool> a(false), b(false);
                  thread one([&] {
                    while (!a.load())
                      model::yield();
                    b.store(true);
                  });
                  while (!b.load())
                    model::yield();
                  a.store(true);
                },
                {.max_steps = 200})
                .find("livelock"),
            std::string::npos);
}

TEST(checker, spinning_with_yield_lets_the_others_go_on) {
  EXPECT_EQ(failure([] {
              atomic<bool> a(false);
              thread one([&] { a.store(true, relaxed); });
              while (!a.load(relaxed))
                model::yield();
            }),
            "");
}

TEST(checker, what_is_not_explored_is_a_failure) {
  EXPECT_NE(failure([] { store_buffering(seq_cst, seq_cst); }, {.max_executions = 3})
                .find("max_executions"),
            std::string::npos);
}

TEST(checker, an_exception_that_leaves_a_thread_is_a_failure) {
  EXPECT_EQ(failure([] { thread one([] { throw std::runtime_error("lost"); }); }),
            "an exception left a thread: lost");
}

TEST(checker, exceptions_of_threads_that_take_turns_do_not_mix) {
  EXPECT_EQ(failure([] {
              atomic<int> turns(0);
              const auto rethrow = [&](int mine) {
                try {
                  throw mine;
                } catch (...) {
                  turns.fetch_add(1, relaxed);
                  turns.fetch_add(1, relaxed);
                  try {
                    throw;
                  } catch (int caught) {
                    require(caught == mine, "another thread's exception");
                  }
                }
              };
              thread one([&] { rethrow(1); });
              rethrow(2);
            }),
            "");
}

TEST(checker, each_thread_has_its_own_value_of_a_thread_local) {
  static thread_local void* mine = nullptr;
  model::make_thread_local(&mine);
  EXPECT_EQ(failure([] {
              atomic<int> turns(0);
              const auto use = [&] {
                require(mine == nullptr, "another thread's value");
                int here = 0;
                mine = &here;
                turns.fetch_add(1, relaxed);
                require(mine == &here, "another thread's value");
              };
              thread one(use);
              use();
            }),
            "");
}

void racy_flags() {
  const auto [a, b] = [] {
    const outcome o = store_buffering(release, acquire);
    return std::pair(o[0], o[1]);
  }();
  require(a + b != 0, "both loads read the old value");
}

TEST(checker, a_failure_tells_what_happened_and_can_be_replayed) {
  const model::result found = explore({}, racy_flags);
  ASSERT_TRUE(found.failed);
  EXPECT_NE(found.trace.find("store(1, release)"), std::string::npos) << found.trace;
  EXPECT_NE(found.trace.find("load(acquire) = 0 [not the latest]"), std::string::npos)
      << found.trace;
  EXPECT_NE(found.trace.find("checker_test.cpp:"), std::string::npos) << found.trace;
  const model::result again = explore({.replay = found.schedule}, racy_flags);
  EXPECT_TRUE(again.failed);
  EXPECT_EQ(again.executions, 1u);
  EXPECT_EQ(again.reason, found.reason);
  EXPECT_EQ(again.trace, found.trace);
}

TEST(checker, random_executions_find_it_too) {
  EXPECT_TRUE(explore({.random_executions = 1000}, racy_flags).failed);
  EXPECT_FALSE(
      explore({.random_executions = 1000}, [] { store_buffering(seq_cst, seq_cst); }).failed);
}

// ---- weakening

void pass_a_message(std::memory_order unused_load) {
  var<int> data(0);
  atomic<bool> ready(false);
  atomic<int> other(0);
  thread one([&] {
    data.set(1);
    ready.store(true, release);
  });
  if (ready.load(acquire))
    data.get();
  other.load(unused_load);
}

TEST(weakening, each_site_is_weakened_and_the_scenario_that_fails_is_named) {
  const auto found =
      model::weaken({{"message", [] { pass_a_message(relaxed); }}}, {"checker_test.cpp"});
  ASSERT_EQ(found.size(), 2u);
  for (const auto& w : found) {
    EXPECT_EQ(w.caught_by, "message") << w.site;
    EXPECT_EQ(w.to, "relaxed");
    EXPECT_NE(w.site.find("checker_test.cpp:"), std::string::npos);
    EXPECT_NE(w.failure.find("data race"), std::string::npos);
  }
}

TEST(weakening, barriers_are_left_out) {
  const auto flags = [] {
    const outcome o = store_buffering_with_barriers(true, true);
    require(o[0] + o[1] != 0, "both loads read the old value");
  };
  const auto found = model::weaken({{"flags", flags}}, {"checker_test.cpp"});
  ASSERT_EQ(found.size(), 2u);
  for (const auto& w : found) {
    EXPECT_EQ(w.caught_by, "flags") << w.site;
    EXPECT_EQ(w.to, "nothing");
  }
}

TEST(weakening, an_order_that_nothing_needs_is_told) {
  const auto found =
      model::weaken({{"message", [] { pass_a_message(acquire); }}}, {"checker_test.cpp"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(
      std::count_if(found.begin(), found.end(), [](const auto& w) { return w.caught_by.empty(); }),
      1);
}

}  // namespace
