// SPDX-License-Identifier: BSL-1.0
#include <weft/base/strong_ptr.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/misuse.hpp"
#include "unit/support/counting_allocator.hpp"

namespace {

using weft::make_strong;
using weft::strong_ptr;
using weft::weak_ptr;
using weft_test::expect_assertion;
namespace sharing = weft::sharing;

struct counted {
  explicit counted(int& l, int v = 0) : living(l), value(v) { ++living; }
  counted(const counted&) = delete;
  virtual ~counted() { --living; }
  int& living;
  int value;
};
struct derived : counted {
  using counted::counted;
};
struct other : counted {
  using counted::counted;
};

template <class Policy>
class strong_ptr_of : public testing::Test {
 protected:
  template <class T>
  using pointer = strong_ptr<T, Policy>;
  template <class T, class... Args>
  static auto make(Args&&... args) {
    return make_strong<T, Policy>(std::forward<Args>(args)...);
  }
  int living = 0;
};
using policies = testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(strong_ptr_of, policies);

TYPED_TEST(strong_ptr_of, the_last_one_ends_the_object) {
  auto first = this->template make<counted>(this->living, 7);
  EXPECT_EQ(first->value, 7);
  EXPECT_EQ((*first).value, 7);
  EXPECT_EQ(first.use_count(), 1);
  auto second = first;
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(first, second);
  first.reset();
  EXPECT_FALSE(first);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(this->living, 1);
  auto third = std::move(second);
  EXPECT_EQ(second.use_count(), 0);
  EXPECT_EQ(third.use_count(), 1);
  third = nullptr;
  EXPECT_EQ(this->living, 0);
}

TYPED_TEST(strong_ptr_of, converts_to_a_base_and_casts_back) {
  auto object = this->template make<derived>(this->living, 3);
  typename TestFixture::template pointer<counted> base = object;
  EXPECT_EQ(static_pointer_cast<derived>(base), object);
  EXPECT_EQ(dynamic_pointer_cast<derived>(base), object);
  EXPECT_EQ(dynamic_pointer_cast<other>(base), nullptr);
  typename TestFixture::template pointer<const counted> read_only = base;
  EXPECT_EQ(const_pointer_cast<counted>(read_only), base);
  EXPECT_EQ(reinterpret_pointer_cast<derived>(base).get(), object.get());
  EXPECT_EQ(object.use_count(), 3);
  EXPECT_EQ(dynamic_pointer_cast<derived>(std::move(base)).use_count(), 3);
  EXPECT_EQ(base, nullptr);
}

TYPED_TEST(strong_ptr_of, an_alias_keeps_the_whole) {
  auto object = this->template make<counted>(this->living, 5);
  typename TestFixture::template pointer<int> part(object, &object->value);
  EXPECT_FALSE(part.owner_before(object));
  EXPECT_FALSE(object.owner_before(part));
  object.reset();
  EXPECT_EQ(this->living, 1);
  EXPECT_EQ(*part, 5);
  part.reset();
  EXPECT_EQ(this->living, 0);
}

TYPED_TEST(strong_ptr_of, a_weak_one_locks_while_the_object_lives) {
  auto object = this->template make<derived>(this->living, 1);
  weak_ptr<derived, TypeParam> weak(object);
  weak_ptr<counted, TypeParam> base = weak;
  EXPECT_EQ(base.use_count(), 1);
  EXPECT_FALSE(weak.owner_before(object));
  EXPECT_EQ(base.lock(), object);
  object.reset();
  EXPECT_EQ(this->living, 0) << "a weak pointer keeps the object";
  EXPECT_TRUE(weak.expired());
  EXPECT_FALSE(base.lock());
  EXPECT_THROW((strong_ptr<derived, TypeParam>(weak)), std::bad_weak_ptr);
}

template <class Policy>
struct self_aware : weft::enable_shared_from_this<self_aware<Policy>, Policy> {
  auto me() { return this->shared_from_this(); }
};

TYPED_TEST(strong_ptr_of, an_object_may_make_pointers_to_itself) {
  using object_type = self_aware<TypeParam>;
  auto object = this->template make<object_type>();
  EXPECT_EQ(object->me(), object);
  EXPECT_EQ(object.use_count(), 1);
  EXPECT_EQ(object->weak_from_this().lock(), object);
  strong_ptr<object_type, TypeParam> adopted(new object_type);
  EXPECT_EQ(adopted->me(), adopted);
  object_type nobodys;
  EXPECT_THROW(nobodys.me(), std::bad_weak_ptr);
}

TYPED_TEST(strong_ptr_of, takes_over_from_a_unique_ptr_and_its_deleter) {
  int ended = 0;
  const auto end = [&](counted* p) {
    ++ended;
    delete p;
  };
  std::unique_ptr<counted, decltype(end)> unique(new counted(this->living), end);
  typename TestFixture::template pointer<counted> object = std::move(unique);
  EXPECT_FALSE(unique);
  EXPECT_EQ(this->living, 1);
  object.reset();
  EXPECT_EQ(ended, 1);
  object.reset(new counted(this->living), end);
  object.reset();
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(this->living, 0);
  typename TestFixture::template pointer<counted> empty = std::unique_ptr<counted>();
  EXPECT_EQ(empty.use_count(), 0);
}

TYPED_TEST(strong_ptr_of, object_and_counts_are_one_block_of_the_allocator) {
  weft_test::allocation_counts counts;
  const weft_test::counting_allocator<char> allocator(counts);
  auto object = weft::allocate_strong<counted, TypeParam>(allocator, this->living);
  weak_ptr<counted, TypeParam> weak = object;
  EXPECT_EQ(counts.allocations, 1u);
  object.reset();
  EXPECT_EQ(this->living, 0);
  EXPECT_EQ(counts.blocks, 1u) << "a weak pointer is left";
  weak.reset();
  EXPECT_EQ(counts.blocks, 0u);
}

struct refuses {
  refuses() { throw std::runtime_error("no"); }
};

TYPED_TEST(strong_ptr_of, a_constructor_that_throws_leaves_no_memory_behind) {
  weft_test::allocation_counts counts;
  const weft_test::counting_allocator<char> allocator(counts);
  EXPECT_THROW((weft::allocate_strong<refuses, TypeParam>(allocator)), std::runtime_error);
  EXPECT_EQ(counts.blocks, 0u);
}

TYPED_TEST(strong_ptr_of, is_ordered_and_hashed_by_its_address) {
  std::set<strong_ptr<int, TypeParam>> ordered;
  std::unordered_set<strong_ptr<int, TypeParam>> hashed;
  for (int i = 0; i != 4; ++i) {
    auto p = this->template make<int>(i);
    ordered.insert(p);
    hashed.insert(p);
    EXPECT_TRUE(hashed.contains(p));
  }
  EXPECT_EQ(ordered.size(), 4u);
  EXPECT_EQ(hashed.size(), 4u);
}

TEST(strong_ptr, policies_do_not_mix) {
  static_assert(!std::is_constructible_v<strong_ptr<int, sharing::local>,
                                         strong_ptr<int, sharing::concurrent>>);
  static_assert(!std::is_constructible_v<weak_ptr<int, sharing::local>,
                                         strong_ptr<int, sharing::concurrent>>);
  static_assert(!std::is_convertible_v<int*, strong_ptr<int>>);
  static_assert(!std::is_constructible_v<strong_ptr<derived>, strong_ptr<counted>>);
}

TEST(strong_ptr, threads_share_an_object_that_is_locked_as_it_ends) {
  for (int round = 0; round != 200; ++round) {
    int living = 0;
    auto object = make_strong<counted>(living, 1);
    std::vector<std::thread> threads;
    for (int i = 0; i != 3; ++i)
      threads.emplace_back([weak = weak_ptr<counted>(object), mine = object]() mutable {
        if (const auto locked = weak.lock()) {
          EXPECT_EQ(locked->value, 1);
        }
        mine.reset();
        if (const auto locked = weak.lock()) {
          EXPECT_EQ(locked->value, 1);
        }
      });
    object.reset();
    for (std::thread& t : threads)
      t.join();
    EXPECT_EQ(living, 0);
  }
}

TEST(strong_ptr_death, a_local_one_asserts_that_one_thread_uses_it) {
  expect_assertion(
      [] {
        auto object = make_strong<int, sharing::local>(1);
        auto copy = object;
        std::thread([&] { copy.reset(); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

}  // namespace
