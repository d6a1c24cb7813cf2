// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where coroutines are resumed. One that calls another, or returns to its caller, transfers to it:
/// symmetrically, which costs no more than a jump. But compilers turn that into a jump only when
/// they optimise; so after `budget` transfers the next one goes by way of the loop, and the stack
/// stays short in every build, however deep the coroutines call each other.
///
/// Loops of one thread nest. Own thread only.
class WEFT_API resume_loop {
 public:
  static constexpr unsigned budget = 64;

  /// What is to be done when a chain of coroutines has ended: outside of all of them, so that it
  /// may destroy them, and throw.
  class epilogue {
   public:
    using function = void (*)(epilogue*);
    void operator()() { function_(this); }

   protected:
    explicit constexpr epilogue(function f) noexcept : function_(f) {}
    ~epilogue() = default;

   private:
    function function_;
  };

  /// Resumes `h`, and whatever it transfers to, until that waits or has ended. Throws what the
  /// epilogue does, and what a coroutine's `unhandled_exception` lets through.
  static void run(std::coroutine_handle<> h) {
    if (epilogue* const ended = run_to_end(h))
      (*ended)();
  }

  /// For await_suspend: goes on with `h`.
  static std::coroutine_handle<> transfer(std::coroutine_handle<> h) noexcept {
    resume_loop* const loop = innermost_;
    if (!loop || --loop->left_ != 0) [[likely]]
      return h;
    loop->next_ = h;
    return std::noop_coroutine();
  }

  /// For the await_suspend of a final suspension: the chain that this thread's loop runs has ended.
  /// Returns false if no loop runs it, or the loop has another one's epilogue to call: a coroutine
  /// may have been resumed by others than a loop.
  static bool end(epilogue& e) noexcept {
    if (!innermost_ || innermost_->ended_)
      return false;
    innermost_->ended_ = &e;
    return true;
  }

 private:
  resume_loop() noexcept : outer_(std::exchange(innermost_, this)) {}
  ~resume_loop() { innermost_ = outer_; }

  static epilogue* run_to_end(std::coroutine_handle<> h) {
    resume_loop loop;
    do {
      loop.left_ = budget;
      h.resume();
      h = std::exchange(loop.next_, nullptr);
    } while (h);
    return loop.ended_;
  }

  static constinit thread_local resume_loop* innermost_;

  resume_loop* const outer_;
  std::coroutine_handle<> next_;
  epilogue* ended_ = nullptr;
  unsigned left_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
