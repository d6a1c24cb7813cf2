// SPDX-License-Identifier: BSL-1.0
#include <coroutine>
#include <string>

#include "harness/bare_coroutine.hpp"

#include "resume.hpp"

// std::suspend_always, and a number beside: the floor.
namespace {

class waiter {
 public:
  explicit waiter(std::uint64_t& sum) : coroutine_(add(value_, sum)) {}
  ~waiter() { coroutine_.handle.destroy(); }
  void resume(std::uint64_t n) {
    value_ = n;
    coroutine_.handle.resume();
  }

 private:
  static bench::bare_coroutine add(const std::uint64_t& value, std::uint64_t& sum) {
    for (;;) {
      co_await std::suspend_always();
      sum += value;
    }
  }

  std::uint64_t value_ = 0;
  bench::bare_coroutine coroutine_;
};

}  // namespace

int main(int argc, char** argv) {
  return resume::main<waiter>(argc, argv, "bare", "std::suspend_always");
}
