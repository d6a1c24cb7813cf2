// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where a chain of coroutines is resumed. One that calls another, or returns to its caller,
/// transfers to it: symmetrically, which costs no more than a jump. But compilers turn that into a
/// jump only when they optimise; so after `budget` transfers the next one goes by way of the loop,
/// and the stack stays short in every build, however deep the coroutines call each other.
///
/// Loops of one thread nest, and each serves its own chain. A coroutine that somebody else has
/// resumed, directly, finds no loop of its chain, and does without. Own thread only.
class WEFT_API resume_loop {
 public:
  static constexpr unsigned budget = 64;

  /// A chain of coroutines, and what is to be done when it has ended: outside of all of them, so
  /// that it may destroy them, and throw.
  class chain {
   public:
    using function = void (*)(chain*);
    void conclude() { function_(this); }

   protected:
    explicit constexpr chain(function f) noexcept : function_(f) {}
    ~chain() = default;

   private:
    function function_;
  };

  /// Resumes `h`, of the chain `c`, and whatever it transfers to, until that waits or the chain has
  /// ended, which concludes it. Throws what that does.
  static void run(std::coroutine_handle<> h, chain& c) {
    if (run_to_end(h, c))
      c.conclude();
  }

  /// For the await_suspend of a coroutine of `c`: goes on with `h`.
  static std::coroutine_handle<> transfer(std::coroutine_handle<> h, const chain& c) noexcept {
    resume_loop* const loop = innermost_;
    if (!loop || loop->chain_ != &c || --loop->left_ != 0) [[likely]]
      return h;
    loop->next_ = h;
    return std::noop_coroutine();
  }

  /// For the await_suspend of the final suspension of the outermost coroutine of `c`. Returns false
  /// if no loop runs the chain: then the caller sees to its end.
  static bool end(const chain& c) noexcept {
    if (!innermost_ || innermost_->chain_ != &c)
      return false;
    innermost_->ended_ = true;
    return true;
  }

 private:
  explicit resume_loop(const chain& c) noexcept
      : outer_(std::exchange(innermost_, this)), chain_(&c) {}
  ~resume_loop() { innermost_ = outer_; }

  static bool run_to_end(std::coroutine_handle<> h, const chain& c) {
    resume_loop loop(c);
    do {
      loop.left_ = budget;
      h.resume();
      h = std::exchange(loop.next_, nullptr);
    } while (h);
    return loop.ended_;
  }

  static constinit thread_local resume_loop* innermost_;

  resume_loop* const outer_;
  const chain* const chain_;  // only compared: it may be gone
  std::coroutine_handle<> next_;
  unsigned left_ = 0;
  bool ended_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
