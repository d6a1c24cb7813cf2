// SPDX-License-Identifier: BSL-1.0
// Generators yield what can be kept, and a consumer waits where it can be found.
#include <coroutine>
#include <memory>

#include <weft/coro/async_generator.hpp>
#include <weft/coro/callable.hpp>
#include <weft/coro/generator.hpp>

using weft::async_generator;
using weft::generator;

/// A coroutine of another library.
struct foreign {
  struct promise_type {
    foreign get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() {}
  };
};

async_generator<int> count() {
  co_yield 1;
}
template <class Coroutine>
Coroutine consume() {
  auto numbers = count();
  co_await numbers.next();
}

template <class>
constexpr bool is_complete = false;
template <class T>
  requires(sizeof(T) != 0)
constexpr bool is_complete<T> = true;

static_assert(is_complete<generator<int>> && is_complete<async_generator<int&>>);

int main() {
  consume<weft::callable<>>().start();
#if WEFT_BAD == 1
  // bad 1: generator: the value type is an object type without const or volatile
  static_assert(is_complete<generator<int, const int>>);
#elif WEFT_BAD == 2
  // bad 2: generator: it yields references, or objects that can be copied
  static_assert(is_complete<generator<std::unique_ptr<int>, std::unique_ptr<int>>>);
#elif WEFT_BAD == 3
  // bad 3: an async_generator yields objects, or lvalue references
  static_assert(is_complete<async_generator<int&&>>);
#elif WEFT_BAD == 4
  // bad 4: an async_generator is consumed by an awaitable, a task or a callable
  consume<foreign>();
#elif WEFT_BAD == 5
  // bad 5: deleted
  auto numbers = count();
  auto copy = numbers;
#endif
}
