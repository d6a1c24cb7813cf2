// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/generator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/misuse.hpp"
#include "unit/support/counting_allocator.hpp"

namespace {

using weft::elements_of;
using weft::generator;
using weft_test::expect_assertion;

static_assert(std::ranges::input_range<generator<int>>);
static_assert(!std::ranges::forward_range<generator<int>>);
static_assert(std::ranges::view<generator<int>>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<int>>, int&&>);
static_assert(std::same_as<std::ranges::range_reference_t<generator<const int&>>, const int&>);
static_assert(std::same_as<std::ranges::range_value_t<generator<const std::string&>>, std::string>);
using views_of_strings = generator<std::string_view, std::string>;
static_assert(std::same_as<std::ranges::range_reference_t<views_of_strings>, std::string_view>);
static_assert(std::same_as<std::ranges::range_value_t<views_of_strings>, std::string>);
static_assert(std::same_as<views_of_strings::yielded, const std::string_view&>);

generator<int> count(int n) {
  for (int i = 0; i != n; ++i)
    co_yield i;
}

template <class Range>
auto all(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> result;
  for (auto&& element : range)
    result.emplace_back(std::forward<decltype(element)>(element));
  return result;
}

TEST(generator, yields_element_by_element) {
  EXPECT_EQ(all(count(4)), (std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(all(count(0)).empty());
}

TEST(generator, is_a_range) {
  auto even = count(10) | std::views::filter([](int i) { return i % 2 == 0; }) |
              std::views::transform([](int i) { return i * i; }) | std::views::take(3);
  EXPECT_EQ(all(even), (std::vector{0, 4, 16}));
}

TEST(generator, runs_no_further_than_it_is_asked) {
  int reached = 0;
  const auto steps = [](int& at) -> generator<int> {
    for (;;)
      co_yield ++at;
  };
  auto g = steps(reached);
  EXPECT_EQ(reached, 0);
  auto i = g.begin();
  EXPECT_EQ(reached, 1);
  ++i;
  EXPECT_EQ(*i, 2);
  EXPECT_EQ(reached, 2);
}

TEST(generator, yields_references_and_what_can_only_be_moved) {
  std::vector<int> numbers{1, 2, 3};
  const auto refer = [](std::vector<int>& v) -> generator<int&> {
    for (int& i : v)
      co_yield i;
  };
  for (int& i : refer(numbers))
    i *= 2;
  EXPECT_EQ(numbers, (std::vector{2, 4, 6}));

  const auto make = []() -> generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    co_yield std::move(second);
  };
  int sum = 0;
  for (std::unique_ptr<int> p : make())
    sum += *p;
  EXPECT_EQ(sum, 3);
}

TEST(generator, an_lvalue_that_is_yielded_by_value_is_copied) {
  const auto twice = [](std::string& kept) -> generator<std::string> {
    kept = "a";
    co_yield kept;
    co_yield kept;
  };
  std::string kept;
  std::vector<std::string> taken;
  for (std::string s : twice(kept))
    taken.push_back(std::move(s));
  EXPECT_EQ(taken, (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(kept, "a");
}

TEST(generator, of_values_with_another_reference) {
  const auto words = []() -> views_of_strings {
    co_yield "one";
    std::string_view two = "two";
    co_yield two;
  };
  EXPECT_EQ(all(words()), (std::vector<std::string>{"one", "two"}));
}

TEST(generator, what_leaves_it_leaves_the_step_and_ends_it) {
  const auto fail = []() -> generator<int> {
    co_yield 1;
    throw std::runtime_error("no");
  };
  auto g = fail();
  auto i = g.begin();
  EXPECT_EQ(*i, 1);
  EXPECT_THROW(++i, std::runtime_error);
  EXPECT_TRUE(i == g.end());
}

TEST(generator, destroyed_before_its_end_it_destroys_what_it_holds) {
  const auto object = std::make_shared<int>(1);
  const auto keep = [](std::shared_ptr<int> p) -> generator<int> {
    const auto second = p;
    for (;;)
      co_yield *second;
  };
  {
    auto idle = keep(object);
    EXPECT_EQ(object.use_count(), 2);
    auto begun = keep(object);
    begun.begin();
    EXPECT_EQ(object.use_count(), 4);
    idle = std::move(begun);
    EXPECT_EQ(object.use_count(), 3);
  }
  EXPECT_EQ(object.use_count(), 1);
}

// ---- elements_of

struct node {
  int value;
  std::vector<node> children;
};

generator<const node&> walk(const node& n) {
  co_yield n;
  for (const node& child : n.children)
    co_yield elements_of(walk(child));
}

TEST(generator, yields_the_elements_of_others) {
  const node tree{1, {{2, {{3, {}}}}, {4, {{5, {}}, {6, {}}}}}};
  std::vector<int> values;
  for (const node& n : walk(tree))
    values.push_back(n.value);
  EXPECT_EQ(values, (std::vector{1, 2, 3, 4, 5, 6}));
}

TEST(generator, yields_the_elements_of_any_range) {
  const auto chain = []() -> generator<int> {
    co_yield elements_of(all(count(3)));
    const std::vector kept{3, 4};
    co_yield elements_of(kept);
    co_yield elements_of(count(2) | std::views::transform([](int i) { return i + 5; }));
    co_yield elements_of(std::views::iota(7, 9));
  };
  EXPECT_EQ(all(chain()), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(generator, an_exception_of_an_inner_one_is_caught_by_the_outer_one) {
  const auto fail = [](int n) -> generator<int> {
    co_yield n;
    throw std::runtime_error("inner");
  };
  const auto outer = [&](bool catches) -> generator<int> {
    try {
      co_yield elements_of(fail(1));
    } catch (const std::runtime_error&) {
      if (!catches)
        throw;
    }
    co_yield 2;
  };
  EXPECT_EQ(all(outer(true)), (std::vector{1, 2}));
  auto g = outer(false);
  auto i = g.begin();
  EXPECT_EQ(*i, 1);
  EXPECT_THROW(++i, std::runtime_error);
  EXPECT_TRUE(i == g.end());
}

generator<int> nest(int depth) {
  if (depth != 0)
    co_yield elements_of(nest(depth - 1));
  co_yield depth;
}

TEST(generator, nests_deep_and_comes_back_without_growing_the_stack) {
  int expected = 0;
  for (int i : nest(10'000))
    EXPECT_EQ(i, expected++);
  EXPECT_EQ(expected, 10'001);
}

TEST(generator, a_million_empty_ones_do_not_grow_the_stack) {
  const auto empties = []() -> generator<int> {
    for (int i = 0; i != 1'000'000; ++i)
      co_yield elements_of(count(0));
    co_yield 1;
  };
  EXPECT_EQ(all(empties()), (std::vector{1}));
}

TEST(generator, destroyed_a_million_deep_it_does_not_grow_the_stack) {
  auto g = std::make_unique<generator<int>>(nest(1'000'000));
  EXPECT_EQ(*g->begin(), 0);
  g.reset();
}

TEST(generator, destroyed_while_an_inner_one_yields_it_destroys_both) {
  const auto object = std::make_shared<int>(1);
  const auto inner = [](std::shared_ptr<int> p) -> generator<int> {
    for (;;)
      co_yield *p;
  };
  const auto outer = [&](std::shared_ptr<int> p) -> generator<int> {
    co_yield elements_of(inner(p));
  };
  {
    auto g = outer(object);
    auto i = g.begin();
    ++i;
    EXPECT_EQ(object.use_count(), 3);
  }
  EXPECT_EQ(object.use_count(), 1);
}

// ---- memory

using weft_test::counting_allocator;

generator<int> with_allocator(std::allocator_arg_t, counting_allocator<int>, int n) {
  co_yield n;
}

TEST(generator, a_frame_comes_from_the_allocator_among_the_arguments) {
  weft_test::allocation_counts memory;
  EXPECT_EQ(all(with_allocator(std::allocator_arg, counting_allocator<int>(memory), 3)),
            (std::vector{3}));
  EXPECT_EQ(memory.allocations, 1u);
  EXPECT_EQ(memory.blocks, 0u);
  const auto outer = [&]() -> generator<int> {
    co_yield elements_of(all(count(1)), counting_allocator<std::byte>(memory));
  };
  EXPECT_EQ(all(outer()), (std::vector{0}));
  EXPECT_EQ(memory.allocations, 2u);
  EXPECT_EQ(memory.blocks, 0u);
}

generator<int, void, std::allocator<std::byte>> with_allocator_type(int n) {
  co_yield n;
}

TEST(generator, the_allocator_may_be_part_of_its_type) {
  EXPECT_EQ(all(with_allocator_type(4)), (std::vector{4}));
  const auto outer = []() -> generator<int> { co_yield elements_of(with_allocator_type(5)); };
  EXPECT_EQ(all(outer()), (std::vector{5}));
}

// ---- misuse

constexpr auto gone_through_once = "a generator is gone through once";
constexpr auto up_to_the_end = "an iterator of a generator is used up to the end";

TEST(generator_death, one_is_gone_through_once) {
  expect_assertion(
      [] {
        auto g = count(2);
        all(g);
        all(g);
      },
      gone_through_once);
  expect_assertion(
      [] {
        auto g = count(2);
        g.begin();
        g.begin();
      },
      gone_through_once);
  expect_assertion(
      [] {
        auto g = count(2);
        const auto kept = std::move(g);
        g.begin();
      },
      gone_through_once);
}

TEST(generator_death, elements_of_one_that_has_been_gone_through_are_refused) {
  expect_assertion(
      [] {
        const auto outer = [](generator<int>& inner) -> generator<int> {
          co_yield elements_of(std::move(inner));
        };
        auto g = count(2);
        all(g);
        all(outer(g));
      },
      gone_through_once);
}

TEST(generator_death, an_iterator_is_not_used_at_the_end_or_after_it_has_been_moved_from) {
  expect_assertion(
      [] {
        auto g = count(0);
        auto i = g.begin();
        ++i;
      },
      up_to_the_end);
  expect_assertion(
      [] {
        auto g = count(0);
        const auto i = g.begin();
        static_cast<void>(*i);
      },
      up_to_the_end);
  expect_assertion(
      [] {
        auto g = count(2);
        auto i = g.begin();
        [[maybe_unused]] const auto kept = std::move(i);
        ++i;
      },
      up_to_the_end);
}

}  // namespace
