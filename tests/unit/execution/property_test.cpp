// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/properties.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include <weft/execution/execute.hpp>
#include <weft/execution/execution_context.hpp>

namespace {

namespace execution = weft::execution;

/// Says nothing about itself.
struct silent {
  template <class F>
  void execute(F f) const {
    f();
  }
  bool operator==(const silent&) const noexcept = default;
};

/// Says one thing, at compile time.
struct never_blocking : silent {
  static constexpr execution::blocking_t::never_t query(execution::blocking_t) noexcept {
    return execution::blocking.never;
  }
};

/// Answers and changes at run time.
struct adjustable : silent {
  execution::blocking_t value = execution::blocking.possibly;
  execution::blocking_t query(execution::blocking_t) const noexcept { return value; }
  adjustable require(execution::blocking_t::never_t) const {
    adjustable other = *this;
    other.value = execution::blocking.never;
    return other;
  }
  adjustable prefer(execution::blocking_t::always_t) const noexcept {
    adjustable other = *this;
    other.value = execution::blocking.always;
    return other;
  }
};

}  // namespace

namespace third_party {

struct colour {
  template <class T>
  static constexpr bool is_applicable_property_v = true;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;
  static constexpr bool is_requirable_concept = true;
  int value = 0;
};

struct thing {
  int painted = 0;
};
constexpr int query(const thing& t, colour) noexcept {
  return t.painted;
}
constexpr thing require(const thing&, colour c) noexcept {
  return {c.value};
}
constexpr int require_concept(const thing&, colour c) noexcept {
  return c.value;
}

/// A property that this file's other types are never asked for; marked from outside.
struct label {};
struct labelled {
  const char* query(label) const { return "labelled"; }
};

}  // namespace third_party

template <>
struct weft::is_applicable_property<third_party::labelled, third_party::label> : std::true_type {};

namespace {

using third_party::colour;
using third_party::thing;

// ---- what holds at compile time

static_assert(execution::executor<silent>);
static_assert(execution::executor_of<silent, void (*)()>);
static_assert(!execution::executor<int>);
static_assert(!execution::is_executor_v<thing>);
static_assert(!weft::is_executor_v<silent>, "it has no members of the Networking TS");

static_assert(weft::query(silent{}, execution::blocking) == execution::blocking.possibly);
static_assert(weft::query(silent{}, execution::relationship) == execution::relationship.fork);
static_assert(weft::query(silent{}, execution::outstanding_work) ==
              execution::outstanding_work.untracked);
static_assert(weft::query(silent{}, execution::mapping) == execution::mapping.thread);
static_assert(weft::query(silent{}, execution::blocking_adaptation) ==
              execution::blocking_adaptation.disallowed);
static_assert(weft::query(silent{}, execution::inline_exception_handling) ==
              execution::inline_exception_handling.propagate);
static_assert(weft::query(never_blocking{}, execution::blocking) == execution::blocking.never);
static_assert(weft::query(never_blocking{}, execution::blocking.always) ==
              execution::blocking.never);
static_assert(execution::blocking_t() != execution::blocking.possibly);

static_assert(!weft::can_query_v<silent, execution::context_t>);
static_assert(!weft::can_query_v<silent, execution::context_as_t<weft::execution_context&>>);
static_assert(!weft::can_query_v<thing, execution::blocking_t>, "it is no executor");

static_assert(weft::can_require_v<silent, execution::blocking_t::possibly_t>);
static_assert(!weft::can_require_v<silent, execution::blocking_t::never_t>);
static_assert(!weft::can_require_v<silent, execution::blocking_t>, "only its values");
static_assert(weft::can_require_v<silent, execution::blocking_t::possibly_t,
                                  execution::relationship_t::fork_t>);
static_assert(!weft::can_require_v<silent, execution::blocking_t::possibly_t,
                                   execution::relationship_t::continuation_t>);
static_assert(weft::can_require_v<never_blocking, execution::blocking_t::never_t>);
static_assert(!weft::can_require_v<never_blocking, execution::blocking_t::possibly_t>);
static_assert(!weft::can_require_v<adjustable, execution::blocking_t::possibly_t>,
              "what is known at run time only cannot be taken to hold");

static_assert(weft::can_prefer_v<silent, execution::blocking_t::never_t>);
static_assert(weft::can_prefer_v<silent, execution::allocator_t<std::allocator<int>>>);
static_assert(!weft::can_prefer_v<silent, execution::blocking_t>);
static_assert(!weft::can_prefer_v<thing, execution::blocking_t::never_t>);

static_assert(std::is_same_v<weft::prefer_result_t<const silent&, execution::blocking_t::never_t>,
                             const silent&>);
static_assert(std::is_same_v<weft::prefer_result_t<silent, execution::blocking_t::never_t>, silent>,
              "a temporary must not be returned by reference");

static_assert(weft::is_nothrow_query_v<adjustable, execution::blocking_t>);
static_assert(!weft::is_nothrow_require_v<adjustable, execution::blocking_t::never_t>);
static_assert(weft::is_nothrow_prefer_v<adjustable, execution::blocking_t::always_t>);
static_assert(weft::is_nothrow_prefer_v<silent, execution::blocking_t::always_t>);

static_assert(weft::query(thing{3}, colour{}) == 3);
static_assert(weft::require(thing{}, colour{4}).painted == 4);
static_assert(weft::require(thing{}, colour{4}, colour{5}).painted == 5, "from left to right");
static_assert(weft::prefer(thing{}, colour{6}, colour{7}).painted == 7);
static_assert(weft::require_concept(thing{}, colour{8}) == 8);
static_assert(weft::can_require_concept_v<thing, colour>);
static_assert(!weft::can_require_concept_v<silent, colour>);
static_assert(weft::is_nothrow_require_concept_v<thing, colour>);
static_assert(std::is_same_v<weft::require_concept_result_t<thing, colour>, int>);
static_assert(!weft::can_require_v<silent, colour>);
static_assert(weft::can_prefer_v<silent, colour>);

// ---- at run time

TEST(property, query_asks_the_object) {
  adjustable ex;
  ex.value = execution::blocking.always;
  EXPECT_TRUE(weft::query(ex, execution::blocking) == execution::blocking.always);
}

TEST(property, require_leaves_the_object_itself_alone) {
  adjustable ex;
  auto other = weft::require(ex, execution::blocking.never);
  EXPECT_TRUE(weft::query(other, execution::blocking) == execution::blocking.never);
  EXPECT_TRUE(weft::query(ex, execution::blocking) == execution::blocking.possibly);
}

TEST(property, prefer_takes_require_before_prefer_and_ignores_what_is_unknown) {
  adjustable ex;
  EXPECT_TRUE(weft::prefer(ex, execution::blocking.never).value == execution::blocking.never);
  EXPECT_TRUE(weft::prefer(ex, execution::blocking.always).value == execution::blocking.always);
  EXPECT_EQ(&weft::prefer(ex, execution::relationship.continuation), &ex);
}

TEST(property, an_outsider_may_make_a_property_applicable) {
  EXPECT_STREQ(weft::query(third_party::labelled(), third_party::label()), "labelled");
  static_assert(!weft::can_query_v<thing, third_party::label>);
}

TEST(execute, calls_the_executors_member) {
  bool ran = false;
  execution::execute(silent(), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(property, allocator_carries_its_allocator) {
  auto property = execution::allocator(std::allocator<int>());
  static_assert(std::is_same_v<decltype(property), execution::allocator_t<std::allocator<int>>>);
  static_assert(std::is_same_v<decltype(property.value()), std::allocator<int>>);
  EXPECT_TRUE(property.value() == std::allocator<int>());
}

}  // namespace
