// SPDX-License-Identifier: BSL-1.0
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <weft/async/append.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/recycling_allocator.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft_test::manual_context;
using executor = manual_context::executor_type;

struct plain_handler {
  void operator()() const {}
};

struct member_handler {
  using allocator_type = weft_test::counting_allocator<int>;
  using executor_type = executor;
  using cancellation_slot_type = weft::cancellation_slot;
  using immediate_executor_type = weft::inline_executor;

  allocator_type get_allocator() const noexcept { return allocator_type(*counts); }
  executor_type get_executor() const noexcept { return executor(*ctx); }
  cancellation_slot_type get_cancellation_slot() const noexcept { return signal->slot(); }
  immediate_executor_type get_immediate_executor() const noexcept { return {}; }
  void operator()() const {}

  weft_test::allocation_counts* counts;
  manual_context* ctx;
  weft::cancellation_signal* signal;
};

template <class Target>
struct third_party_wrapper {
  Target target;
  void operator()() { target(); }
};

struct specialised {
  manual_context* ctx;
};

}  // namespace

template <template <class, class> class Associator, class Target, class Candidate>
struct weft::associator<Associator, third_party_wrapper<Target>, Candidate>
    : Associator<Target, Candidate> {
  static auto get(const third_party_wrapper<Target>& w) noexcept {
    return Associator<Target, Candidate>::get(w.target);
  }
  static auto get(const third_party_wrapper<Target>& w, const Candidate& c) noexcept {
    return Associator<Target, Candidate>::get(w.target, c);
  }
};

template <class Executor>
struct weft::associated_executor<specialised, Executor> {
  using type = executor;
  static type get(const specialised& s, const Executor& = Executor()) noexcept {
    return executor(*s.ctx);
  }
};

namespace {

class association : public testing::Test {
 protected:
  weft_test::allocation_counts counts;
  manual_context ctx, other;
  weft::cancellation_signal signal;
  member_handler handler{&counts, &ctx, &signal};

  template <class T>
  void expect_all_associated(const T& t) {
    EXPECT_EQ(weft::get_associated_allocator(t), handler.get_allocator());
    EXPECT_EQ(weft::get_associated_executor(t, other.get_executor()), ctx.get_executor());
    EXPECT_EQ(weft::get_associated_cancellation_slot(t), signal.slot());
    static_assert(
        std::is_same_v<weft::associated_immediate_executor_t<T, executor>, weft::inline_executor>);
  }
};

TEST_F(association, falls_back_on_the_candidate) {
  static_assert(std::is_same_v<weft::associated_allocator_t<plain_handler>, std::allocator<void>>);
  static_assert(std::is_same_v<weft::associated_executor_t<plain_handler>, weft::inline_executor>);
  EXPECT_EQ(weft::get_associated_executor(plain_handler(), other), other.get_executor());
  EXPECT_FALSE(weft::get_associated_cancellation_slot(plain_handler()).is_connected());
  auto immediate = weft::get_associated_immediate_executor(plain_handler(), other);
  EXPECT_EQ(weft::query(immediate, weft::execution::blocking), weft::execution::blocking.never);
  auto ts = weft::get_associated_immediate_executor(plain_handler(), weft_test::ts_executor(other));
  ts.dispatch([] {}, std::allocator<void>());
  EXPECT_EQ(other.queued(), 1u);
}

TEST_F(association, comes_from_member_types) {
  expect_all_associated(handler);
}

TEST_F(association, of_a_reference_wrapper_is_the_referents) {
  expect_all_associated(std::ref(handler));
  expect_all_associated(std::cref(handler));
}

TEST_F(association, of_a_third_party_wrapper_comes_from_one_specialisation_of_associator) {
  expect_all_associated(third_party_wrapper<member_handler>{handler});
  EXPECT_EQ(
      weft::get_associated_executor(third_party_wrapper<plain_handler>{}, other.get_executor()),
      other.get_executor());
}

TEST_F(association, comes_from_a_specialisation_of_the_trait) {
  EXPECT_EQ(weft::get_associated_executor(specialised{&ctx}, other.get_executor()),
            ctx.get_executor());
}

TEST_F(association, of_binders_is_the_bound_value_and_else_the_targets) {
  weft::cancellation_signal second;
  expect_all_associated(weft::bind_executor(ctx, third_party_wrapper<member_handler>{handler}));
  auto bound = weft::bind_executor(other, weft::bind_cancellation_slot(second.slot(), handler));
  EXPECT_EQ(weft::get_associated_executor(bound), other.get_executor());
  EXPECT_EQ(weft::get_associated_cancellation_slot(bound), second.slot());
  EXPECT_EQ(weft::get_associated_allocator(bound), handler.get_allocator());
  auto allocated = weft::bind_allocator(weft::recycling_allocator<>(), handler);
  static_assert(std::is_same_v<weft::associated_allocator_t<decltype(allocated)>,
                               weft::recycling_allocator<>>);
}

}  // namespace
