// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>
#include <weft.hpp>

#include "switches.hpp"

namespace {

using weft::detail::fiber_context;
using weft::detail::fiber_thread;

/// A context at the top of its own stack, as fibers are.
struct context : fiber_context {
  context(void* limit, std::uint64_t n) : fiber_context(limit, this, &run), number(n) {}

  static void run(fiber_context& base) {
    const std::uint64_t number = static_cast<context&>(base).number;
    for (weft::detail::stack_arrival last = base.arrival();;) {
      switches::sum += number;
      last = fiber_context::suspend(last);
    }
  }

  const std::uint64_t number;
};

class contexts {
 public:
  explicit contexts(std::uint64_t n) : thread_(fiber_thread::current()) {
    const weft::stack_pool pool(weft::stack_size(16 * 1024));
    for (std::uint64_t i = 0; i != n; ++i) {
      constexpr std::uintptr_t line = 64;
      const weft::stack_context stack = pool.allocate();
      const auto top = reinterpret_cast<std::uintptr_t>(stack.sp) - sizeof(context);
      void* const limit = static_cast<std::byte*>(stack.sp) - stack.size;
      all_.push_back(::new (reinterpret_cast<void*>(top & ~(line - 1))) context(limit, i));
    }
  }
  void resume(std::uint64_t i) { all_[i]->resume(thread_); }

 private:
  const fiber_thread& thread_;
  std::vector<context*> all_;
};

}  // namespace

int main(int argc, char** argv) {
  return switches::main<contexts>(argc, argv, "weft_context", "guarded stacks of 16 KiB");
}
