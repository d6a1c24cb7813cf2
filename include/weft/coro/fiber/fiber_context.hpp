// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <weft/base/config.hpp>
#include <weft/coro/fiber/stack_switch.hpp>

namespace WEFT_NAMESPACE::detail {

class fiber_base;

/// What the C++ runtime knows of exceptions in flight: the __cxa_eh_globals of the C++ ABI for
/// Itanium (2.2.2), a pointer to those that are handled, and a count of those that are not yet. A
/// thread has one; each stack has its own contents, mostly zeros.
struct [[gnu::may_alias]] exception_state {
  std::uint64_t handled = 0;
  std::uint64_t uncaught = 0;

  bool is_clear() const noexcept { return (handled | uncaught) == 0; }
};
static_assert(sizeof(void*) == sizeof(std::uint64_t));

/// What a thread knows of fibers. It is looked up by who resumes one, which stays on the thread.
struct WEFT_API fiber_thread {
  exception_state* exceptions;
  const fiber_base* running;

  /// The calling thread's.
  static fiber_thread& current() noexcept;
};

/// A stack with a function on it that is run piece by piece: `resume` runs it until it calls
/// `suspend`. Each is a jump, and a look whether there is an exception state to exchange, inlined.
///
/// Protocol: it is resumed by one thread at a time, not always the same; what a piece has done
/// happens before the next by whatever hands the context over. It suspends on its own stack only.
/// When the function has returned, it is not resumed again; before, whoever ends the context sees
/// to what lies on the stack.
///
/// In a library that is built with AddressSanitizer or ThreadSanitizer the switches are announced
/// to it; that is done out of line.
class WEFT_API fiber_context {
 public:
  using function = void (*)(fiber_context&);

  /// The memory from `limit` to `top` must outlive it. Allocates only for a sanitizer.
  fiber_context(void* limit, void* top, function f) noexcept
      : point_(begin_stack(top, &enter)), function_(f), limit_(limit), top_(top) {
    if (announces_switches) [[unlikely]]
      begin_announced();
  }
  fiber_context(const fiber_context&) = delete;
  fiber_context& operator=(const fiber_context&) = delete;
  ~fiber_context() {
    if (announces_switches) [[unlikely]]
      end_announced();
  }

  /// Runs the function until it suspends or has returned. `thread` is the calling thread's.
  void resume(const fiber_thread& thread) noexcept {
    exception_state& state = *thread.exceptions;
    if (is_special_ || !state.is_clear()) [[unlikely]]
      return resume_specially(thread);
    stack_point here;
    switch_stack(&here, &point_);
    if (!state.is_clear()) [[unlikely]]
      keep(state);
  }

  /// Returns when somebody resumes it. Called by the function.
  [[gnu::always_inline]] void suspend() noexcept { arrive(suspend(arrival())); }

  /// The same for a function that keeps in registers by whom it was resumed, and calls
  /// `arrive(last)` before it returns: so it waits for none of its memory, and with very many
  /// contexts the processor fetches the next ones meanwhile.
  [[gnu::always_inline]] static stack_arrival suspend(stack_arrival last) noexcept {
    if (announces_switches) [[unlikely]]
      return suspend_announced(last);
    return switch_back(last);
  }
  stack_arrival arrival() noexcept { return {resumer_, &point_}; }
  void arrive(stack_arrival last) noexcept { resumer_ = last.from; }

  /// Where its stack was left.
  const stack_point& point() const noexcept { return point_; }
  /// The lowest byte that the stack may use, and how many there are.
  const void* limit() const noexcept { return limit_; }
  std::size_t size() const noexcept {
    return static_cast<std::size_t>(static_cast<char*>(top_) - static_cast<char*>(limit_));
  }

 private:
  struct announcement;

  static void enter(stack_point* from, stack_point* own) noexcept;
  void begin_announced() noexcept;
  void end_announced() noexcept;
  void resume_specially(const fiber_thread& thread) noexcept;
  void resume_announced(exception_state& thread) noexcept;
  static stack_arrival suspend_announced(stack_arrival last) noexcept;
  void keep(exception_state& thread) noexcept;
  void exchange(exception_state& thread) noexcept;

  static const bool announces_switches;

  stack_point point_;  // first: the context is found by it
  stack_point* resumer_ = nullptr;
  bool is_special_ = announces_switches;  // or there is an exception state to exchange
  const function function_;
  void* const limit_;
  void* const top_;
  exception_state exceptions_;
  announcement* announcement_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
