// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/fiber/fiber_context.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <weft/coro/stack_pool.hpp>

namespace {

using weft::detail::fiber_context;
using weft::detail::fiber_thread;

/// A context on a stack of the pool.
template <class F>
class on_a_stack {
 public:
  explicit on_a_stack(F f)
      : f_(std::move(f)),
        stack_(weft::stack_pool().allocate()),
        context_(*this, static_cast<char*>(stack_.sp) - stack_.size, stack_.sp) {}
  ~on_a_stack() { weft::stack_pool().deallocate(stack_); }

  void resume() { context_.resume(fiber_thread::current()); }

 private:
  struct context : fiber_context {
    context(on_a_stack& o, void* limit, void* top) : fiber_context(limit, top, &call), owner(o) {}
    static void call(fiber_context& c) {
      auto& self = static_cast<context&>(c);
      self.owner.f_(self);
    }
    on_a_stack& owner;
  };

  F f_;
  weft::stack_context stack_;
  context context_;
};

TEST(fiber_context, runs_piece_by_piece) {
  std::vector<int> order;
  on_a_stack f([&](fiber_context& self) {
    order.push_back(1);
    self.suspend();
    order.push_back(3);
    self.suspend();
    order.push_back(5);
  });
  f.resume();
  order.push_back(2);
  f.resume();
  order.push_back(4);
  f.resume();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(fiber_context, its_stack_is_aligned_as_calls_expect) {
  std::uintptr_t address = 1;
  double sum = 0;
  on_a_stack f([&](fiber_context& self) {
    alignas(16) volatile double values[4] = {1, 2, 3, 4};
    address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    self.suspend();
    for (const double v : values)
      sum += v;
  });
  f.resume();
  f.resume();
  EXPECT_EQ(address % 16, 0u);
  EXPECT_EQ(sum, 10);
}

TEST(fiber_context, both_sides_keep_what_they_have_in_registers) {
  const auto mix = [](std::uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; };
  std::uint64_t inside = 0;
  on_a_stack f([&](fiber_context& self) {
    std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5;
    double x = 0.5;
    for (int i = 0; i != 1000; ++i) {
      a = mix(a + e), b = mix(b + a), c = mix(c + b), d = mix(d + c), e = mix(e + d);
      x = x * 1.25 + 1;
      while (x > 100)
        x -= 99;
      self.suspend();
    }
    inside = a ^ b ^ c ^ d ^ e ^ static_cast<std::uint64_t>(x * 1000);
  });
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5;
  double x = 0.5;
  for (int i = 0; i != 1000; ++i) {
    a = mix(a + e), b = mix(b + a), c = mix(c + b), d = mix(d + c), e = mix(e + d);
    x = x * 1.25 + 1;
    while (x > 100)
      x -= 99;
    f.resume();
  }
  f.resume();
  EXPECT_EQ(inside, a ^ b ^ c ^ d ^ e ^ static_cast<std::uint64_t>(x * 1000));
}

TEST(fiber_context, contexts_resume_each_other) {
  std::string order;
  on_a_stack inner([&](fiber_context& self) {
    order += 'c';
    self.suspend();
    order += 'e';
  });
  on_a_stack outer([&](fiber_context& self) {
    order += 'b';
    inner.resume();
    order += 'd';
    inner.resume();
    self.suspend();
    order += 'g';
  });
  order += 'a';
  outer.resume();
  order += 'f';
  outer.resume();
  EXPECT_EQ(order, "abcdefg");
}

TEST(fiber_context, an_exception_that_is_handled_stays_on_its_stack) {
  on_a_stack f([&](fiber_context& self) {
    try {
      throw 7;
    } catch (int n) {
      self.suspend();
      EXPECT_EQ(n, 7);
      EXPECT_TRUE(std::current_exception());
    }
  });
  f.resume();
  EXPECT_FALSE(std::current_exception());
  f.resume();
  EXPECT_FALSE(std::current_exception());
}

}  // namespace
