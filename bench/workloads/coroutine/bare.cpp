// SPDX-License-Identifier: BSL-1.0
#include <coroutine>
#include <cstdint>
#include <exception>

#include "harness/run.hpp"

// The same call with as little of a promise as a coroutine can have: no library, no exceptions, no
// executor; frames by operator new.
namespace {

struct bare {
  struct promise_type {
    std::uint64_t value = 0;
    std::coroutine_handle<> caller;

    bare get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct return_to_caller {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        return h.promise().caller;
      }
      void await_resume() const noexcept {}
    };
    return_to_caller final_suspend() const noexcept { return {}; }
    void return_value(std::uint64_t v) noexcept { value = v; }
    void unhandled_exception() noexcept { std::terminate(); }
  };

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
    handle.promise().caller = caller;
    return handle;
  }
  std::uint64_t await_resume() const noexcept {
    const std::uint64_t value = handle.promise().value;
    handle.destroy();
    return value;
  }

  std::coroutine_handle<promise_type> handle;
};

[[gnu::noinline]] bare number(std::uint64_t n) {
  co_return n;
}

bare call(std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != count; ++i)
    sum += co_await number(i);
  co_return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("coroutine", "bare", "a bare promise", [&] {
    bare outermost = call(count);
    outermost.handle.promise().caller = std::noop_coroutine();
    outermost.handle.resume();
    return bench::result{.operations = count, .checksum = outermost.await_resume()};
  });
}
