// SPDX-License-Identifier: BSL-1.0
#include <coroutine>
#include <exception>
#include <string>

#include "resume.hpp"

// std::suspend_always, and a number beside: the floor.
namespace {

struct coroutine {
  struct promise_type {
    coroutine get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

class waiter {
 public:
  explicit waiter(std::uint64_t& sum) : coroutine_(add(value_, sum)) {}
  ~waiter() { coroutine_.handle.destroy(); }
  void resume(std::uint64_t n) {
    value_ = n;
    coroutine_.handle.resume();
  }

 private:
  static coroutine add(const std::uint64_t& value, std::uint64_t& sum) {
    for (;;) {
      co_await std::suspend_always();
      sum += value;
    }
  }

  std::uint64_t value_ = 0;
  coroutine coroutine_;
};

}  // namespace

int main(int argc, char** argv) {
  return resume::main<waiter>(argc, argv, "bare", "std::suspend_always");
}
