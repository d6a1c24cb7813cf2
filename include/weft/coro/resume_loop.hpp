// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/base/stack_pointer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where a chain of coroutines is resumed, and where it goes on when the stack is too deep.
///
/// A coroutine calls another one as a function does, on the stack. One that has waited returns to
/// its caller by a transfer, of which compilers make a jump when they optimise, and a call
/// otherwise. So either looks at the stack: `reach` bytes below the loop it goes by way of that.
/// The stack stays short in every build, however deep the coroutines call each other, for one
/// comparison each.
///
/// Loops of one thread nest, and each serves its own chain. A coroutine that somebody else has
/// resumed, directly, finds no loop of its chain: to call another it makes one, to return it does
/// without. Own thread only: a fiber, whose stack moves between threads, has its own
/// (`exchange_nested`). What is called after a coroutine has run may be on another thread then than
/// before, and so is not inlined: a compiler keeps addresses of what is thread-local.
class WEFT_API resume_loop {
 public:
  static constexpr std::size_t reach = std::size_t{16} << 10;
  static constexpr std::uintptr_t no_stack = std::numeric_limits<std::uintptr_t>::max();

  /// A chain of coroutines: here, no more than an address.
  class chain {
   protected:
    chain() = default;
    ~chain() = default;
  };

  /// Resumes `h`, of the chain `c`, and whatever it transfers to, until that waits or the chain has
  /// ended. Whether it has: then the caller concludes it, outside of all its coroutines, so that it
  /// may destroy them, and throw.
  static bool run_to_end(std::coroutine_handle<> h, const chain& c) {
    resume_loop loop(c);
    do {
      h.resume();
      h = std::exchange(loop.next_, nullptr);
    } while (h);
    return loop.ended_;
  }

  /// Whether the stack has room above the innermost loop, and there is one.
  static bool may_call() noexcept { return stack_pointer() >= lowest_; }

  /// Has the loop of `c` go on with `h` when all that is on the stack above it has returned. False
  /// if it is not the innermost.
  static bool go_on_later(std::coroutine_handle<> h, const chain& c) noexcept;

  /// For the await_suspend of a coroutine of `c` that is on no stack: goes on with `h`.
  static std::coroutine_handle<> transfer(std::coroutine_handle<> h, const chain& c) noexcept {
    if (may_call() || !go_on_later(h, c)) [[likely]]
      return h;
    return std::noop_coroutine();
  }

  /// For the await_suspend of the final suspension of the outermost coroutine of `c`. Returns false
  /// if no loop runs the chain: then the caller sees to its end.
  static bool end(const chain& c) noexcept;

  /// The loops that are nested in each other on a stack.
  struct nested {
    resume_loop* innermost = nullptr;
    std::uintptr_t lowest = no_stack;
  };
  /// Has the thread go on with those of another stack. Returns those of the present one.
  static nested exchange_nested(const nested& other) noexcept {
    return {std::exchange(innermost_, other.innermost), std::exchange(lowest_, other.lowest)};
  }

 private:
  explicit resume_loop(const chain& c) noexcept
      : outer_(std::exchange(innermost_, this)),
        outer_lowest_(std::exchange(lowest_, stack_pointer() - reach)),
        chain_(&c) {}
  ~resume_loop();

  static constinit thread_local resume_loop* innermost_;
  static constinit thread_local std::uintptr_t
      lowest_;  // of the innermost loop; without one, no stack is high enough

  resume_loop* const outer_;
  const std::uintptr_t outer_lowest_;
  const chain* const chain_;  // only compared: it may be gone
  std::coroutine_handle<> next_;
  bool ended_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
