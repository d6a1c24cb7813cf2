// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/execution_context.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using testing::ElementsAre;

std::vector<std::string> events;

class context : public weft::execution_context {
 public:
  using execution_context::execution_context;
  context() { events.clear(); }
  ~context() {
    shutdown();
    destroy();
  }
  using execution_context::destroy;
  using execution_context::shutdown;
};

template <int N>
class numbered : public weft::execution_context::service {
 public:
  using key_type = numbered;
  explicit numbered(weft::execution_context& owner) : service(owner) { note("construct"); }
  numbered(weft::execution_context& owner, int v) : service(owner), value(v) { note("construct"); }
  ~numbered() override { note("destroy"); }

  int value = 0;

 private:
  void shutdown() override { note("shutdown"); }
  void notify_fork(weft::execution_context::fork_event event) override {
    note(event == weft::execution_context::fork_prepare  ? "prepare"
         : event == weft::execution_context::fork_parent ? "parent"
                                                         : "child");
  }
  void note(const char* what) { events.push_back(what + std::to_string(N)); }
};

class identified : public weft::execution_context::service {
 public:
  static weft::execution_context::id id;
  explicit identified(weft::execution_context& owner) : service(owner) {}

 private:
  void shutdown() override {}
};
weft::execution_context::id identified::id;

/// Stands in for the service it derives from.
class better_identified : public identified {
 public:
  using identified::identified;
};

/// Uses another service in its constructor.
class dependent : public numbered<9> {
 public:
  using key_type = dependent;
  explicit dependent(weft::execution_context& owner) : numbered<9>(owner) {
    weft::use_service<numbered<1>>(owner);
  }
};

struct construction_failed {};
class failing : public weft::execution_context::service {
 public:
  using key_type = failing;
  explicit failing(weft::execution_context& owner) : service(owner) { throw construction_failed(); }

 private:
  void shutdown() override {}
};

TEST(execution_context, use_service_creates_a_service_once) {
  context c;
  EXPECT_FALSE(weft::has_service<numbered<1>>(c));
  auto& first = weft::use_service<numbered<1>>(c);
  auto& second = weft::use_service<numbered<1>>(c);
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(&first.context(), &c);
  EXPECT_TRUE(weft::has_service<numbered<1>>(c));
  EXPECT_FALSE(weft::has_service<numbered<2>>(c));
}

TEST(execution_context, services_with_a_static_id_are_found_by_it) {
  context c;
  auto& made = weft::make_service<better_identified>(c);
  EXPECT_EQ(&weft::use_service<identified>(c), &made);
}

TEST(execution_context, each_context_has_services_of_its_own) {
  context a;
  context b;
  EXPECT_NE(&weft::use_service<numbered<1>>(a), &weft::use_service<numbered<1>>(b));
}

TEST(execution_context, services_shut_down_and_are_destroyed_in_reverse_order) {
  {
    context c;
    weft::use_service<numbered<1>>(c);
    weft::make_service<numbered<2>>(c, 5);
    weft::add_service(c, new numbered<3>(c));
    events.clear();
  }
  EXPECT_THAT(events, ElementsAre("shutdown3", "shutdown2", "shutdown1", "destroy3", "destroy2",
                                  "destroy1"));
}

TEST(execution_context, a_service_used_by_a_constructor_outlives_the_constructed_one) {
  {
    context c;
    weft::use_service<dependent>(c);
  }
  EXPECT_THAT(events, ElementsAre("construct9", "construct1", "shutdown9", "shutdown1", "destroy9",
                                  "destroy1"));
}

TEST(execution_context, a_second_shutdown_or_destroy_does_nothing) {
  context c;
  weft::use_service<numbered<1>>(c);
  c.shutdown();
  c.shutdown();
  c.destroy();
  c.destroy();
  EXPECT_THAT(events, ElementsAre("construct1", "shutdown1", "destroy1"));
}

class reviver : public weft::execution_context::service {
 public:
  using key_type = reviver;
  explicit reviver(weft::execution_context& owner) : service(owner) {}

 private:
  void shutdown() override { weft::use_service<numbered<7>>(context()); }
};

TEST(execution_context, a_service_that_shutdown_brings_into_being_is_shut_down_too) {
  {
    context c;
    weft::use_service<reviver>(c);
  }
  EXPECT_THAT(events, ElementsAre("construct7", "shutdown7", "destroy7"));
}

TEST(execution_context, fork_is_prepared_in_reverse_order_and_followed_in_order) {
  context c;
  weft::use_service<numbered<1>>(c);
  weft::use_service<numbered<2>>(c);
  weft::use_service<numbered<3>>(c);
  events.clear();
  c.notify_fork(weft::execution_context::fork_prepare);
  EXPECT_THAT(events, ElementsAre("prepare3", "prepare2", "prepare1"));
  events.clear();
  c.notify_fork(weft::execution_context::fork_parent);
  EXPECT_THAT(events, ElementsAre("parent1", "parent2", "parent3"));
  events.clear();
  c.notify_fork(weft::execution_context::fork_child);
  EXPECT_THAT(events, ElementsAre("child1", "child2", "child3"));
}

TEST(execution_context, making_a_service_twice_throws_and_keeps_the_first) {
  context c;
  auto& first = weft::make_service<numbered<1>>(c, 7);
  EXPECT_THROW(weft::make_service<numbered<1>>(c, 8), weft::service_already_exists);
  EXPECT_EQ(&weft::use_service<numbered<1>>(c), &first);
  EXPECT_EQ(first.value, 7);
}

TEST(execution_context, a_service_that_could_not_be_added_stays_the_callers) {
  context a;
  context b;
  auto* other = new numbered<1>(b);
  EXPECT_THROW(weft::add_service(a, other), weft::invalid_service_owner);
  weft::use_service<numbered<1>>(b);
  EXPECT_THROW(weft::add_service(b, other), weft::service_already_exists);
  events.clear();
  delete other;
  EXPECT_THAT(events, ElementsAre("destroy1"));
}

TEST(execution_context, a_constructor_that_throws_adds_no_service) {
  context c;
  EXPECT_THROW(weft::use_service<failing>(c), construction_failed);
  EXPECT_THROW(weft::make_service<failing>(c), construction_failed);
  EXPECT_FALSE(weft::has_service<failing>(c));
}

class plain : public weft::execution_context::service {
 public:
  using key_type = plain;
  explicit plain(weft::execution_context& owner) : service(owner) {}

 private:
  void shutdown() override {}
};

TEST(execution_context, threads_that_ask_at_once_get_the_same_service) {
  for (int round = 0; round != 50; ++round) {
    context c;
    std::array<plain*, 4> seen{};
    std::atomic<int> waiting{0};
    {
      std::vector<std::jthread> threads;
      for (auto& p : seen)
        threads.emplace_back([&] {
          ++waiting;
          while (waiting != 4) {}
          p = &weft::use_service<plain>(c);
        });
    }
    for (auto* p : seen)
      EXPECT_EQ(p, seen[0]);
  }
}

struct maker : weft::execution_context::service_maker {
  bool fail = false;
  void make(weft::execution_context& c) const override {
    weft::make_service<numbered<1>>(c);
    weft::make_service<numbered<2>>(c);
    if (fail)
      throw construction_failed();
  }
};

TEST(execution_context, a_service_maker_makes_the_first_services) {
  events.clear();
  maker m;
  context c(m);
  EXPECT_TRUE(weft::has_service<numbered<1>>(c));
  EXPECT_TRUE(weft::has_service<numbered<2>>(c));
}

TEST(execution_context, a_service_maker_that_throws_leaves_nothing_behind) {
  events.clear();
  maker m;
  m.fail = true;
  EXPECT_THROW(context{m}, construction_failed);
  EXPECT_THAT(events, ElementsAre("construct1", "construct2", "shutdown2", "shutdown1", "destroy2",
                                  "destroy1"));
}

struct ledger {
  int blocks = 0;
  int allocations = 0;
  int fail_after = -1;
};

template <class T>
struct counting_allocator {
  using value_type = T;
  ledger* l;
  explicit counting_allocator(ledger& to) : l(&to) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : l(other.l) {}
  T* allocate(std::size_t n) {
    if (l->allocations == l->fail_after)
      throw std::bad_alloc();
    ++l->allocations;
    ++l->blocks;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --l->blocks;
    std::allocator<T>().deallocate(p, n);
  }
  bool operator==(const counting_allocator&) const = default;
};

class alignas(64) wide : public weft::execution_context::service {
 public:
  using key_type = wide;
  explicit wide(weft::execution_context& owner) : service(owner) {}

 private:
  void shutdown() override {}
};

TEST(execution_context, services_are_allocated_with_the_contexts_allocator) {
  ledger l;
  {
    context c(std::allocator_arg, counting_allocator<int>(l));
    const int before = l.blocks;
    weft::use_service<numbered<1>>(c);
    EXPECT_EQ(l.blocks, before + 1);
    auto& aligned = weft::use_service<wide>(c);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&aligned) % 64, 0U);
    EXPECT_EQ(l.blocks, before + 2);
    weft::execution_context::allocator<double> a(c);
    std::vector<double, weft::execution_context::allocator<double>> v(a);
    v.resize(100);
    EXPECT_GT(l.blocks, before + 2);
  }
  EXPECT_EQ(l.blocks, 0);
}

TEST(execution_context, an_allocation_that_fails_leaves_nothing_behind) {
  maker m;
  bool done = false;
  for (int n = 0; !done; ++n) {
    ASSERT_LT(n, 20);
    ledger l;
    l.fail_after = n;
    events.clear();
    try {
      context c(std::allocator_arg, counting_allocator<int>(l), m);
      weft::use_service<numbered<3>>(c);
      done = true;
    } catch (const std::bad_alloc&) {}
    EXPECT_EQ(l.blocks, 0);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [](const std::string& e) { return e.starts_with("construct"); }),
              std::count_if(events.begin(), events.end(),
                            [](const std::string& e) { return e.starts_with("destroy"); }));
  }
}

TEST(execution_context, default_allocator_gives_memory_back) {
  context c;
  weft::execution_context::allocator<int> a(c);
  weft::execution_context::allocator<void> proto(a);
  EXPECT_TRUE(proto == weft::execution_context::allocator<void>(c));
  int* p = a.allocate(3);
  a.deallocate(p, 3);
  EXPECT_THROW(a.allocate(static_cast<std::size_t>(-1)), std::bad_alloc);
}

static_assert(!std::is_copy_constructible_v<weft::execution_context>);
static_assert(std::is_base_of_v<std::logic_error, weft::service_already_exists>);
static_assert(std::is_base_of_v<std::logic_error, weft::invalid_service_owner>);

}  // namespace
