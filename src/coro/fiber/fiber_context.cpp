// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/fiber/fiber_context.hpp>

#include <cxxabi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "coro/fiber/overflow.hpp"
#include "coro/fiber/sanitizer.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

// Reading it allocates nothing, in a shared library either: a signal handler does.
[[gnu::tls_model("initial-exec")]] constinit thread_local fiber_thread own_thread{nullptr, nullptr};

/// A shadow stack (x86 CET) would take a switch for an attack, and end the program without a word.
void refuse_shadow_stack() noexcept {
#if defined(__x86_64__)
  std::uint64_t shadow_stack = 0;  // RDSSP leaves it alone where there is none
  asm volatile("rdsspq %0" : "+r"(shadow_stack));
  if (shadow_stack == 0)
    return;
  std::fputs(
      "weft: fibers do not run in a process with shadow stacks; start it without them "
      "(GLIBC_TUNABLES=glibc.cpu.x86_shstk=off).\n",
      stderr);
  std::abort();
#endif
}

[[gnu::noinline, gnu::cold]] void begin(fiber_thread& thread) noexcept {
  refuse_shadow_stack();
  watch_for_overflow();
  thread.exceptions = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

}  // namespace

// The assembly hides where the address comes from: a caller that keeps it across a switch would
// have another thread's.
[[gnu::noinline]] fiber_thread& fiber_thread::current() noexcept {
  fiber_thread* thread = &own_thread;
  asm volatile("" : "+r"(thread) : : "memory");
  if (!thread->exceptions) [[unlikely]]
    begin(*thread);
  return *thread;
}

[[gnu::noinline]] const fiber_base* running_fiber() noexcept {
  return own_thread.running;
}

constinit const bool fiber_context::announces_switches =
    WEFT_ADDRESS_SANITIZER || WEFT_THREAD_SANITIZER;

/// What the sanitizers want to be told again: their marks of the fiber and of who has resumed it.
/// Between a switch and its announcement every call that is made returns, inlined or not:
/// ThreadSanitizer counts calls and returns per fiber.
struct fiber_context::announcement {
  void* fake_stack = nullptr;
  const void* resumer_limit = nullptr;
  std::size_t resumer_size = 0;
  void* fiber = nullptr;
  void* resumer = nullptr;

  [[gnu::always_inline]] void has_switched_in() noexcept {
#if WEFT_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, &resumer_limit, &resumer_size);
#endif
  }
  [[gnu::always_inline]] void will_switch_out([[maybe_unused]] bool for_good) noexcept {
#if WEFT_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack, resumer_limit, resumer_size);
#endif
#if WEFT_THREAD_SANITIZER
    __tsan_switch_to_fiber(resumer, 0);
#endif
  }
};

void fiber_context::enter(stack_point* from, stack_point* own) noexcept {
  static_assert(std::is_standard_layout_v<fiber_context>);
  auto* const self = reinterpret_cast<fiber_context*>(own);
  self->arrive({from, own});
  if (self->announcement_) [[unlikely]]
    self->announcement_->has_switched_in();
  self->function_(*self);
  if (self->announcement_) [[unlikely]]
    self->announcement_->will_switch_out(true);
  switch_back(self->arrival());
  std::terminate();
}

void fiber_context::begin_announced() noexcept {
  announcement_ = new announcement;
#if WEFT_ADDRESS_SANITIZER
  // What ran here before has left marks of its frames.
  __asan_unpoison_memory_region(limit_, size());
#endif
#if WEFT_THREAD_SANITIZER
  announcement_->fiber = __tsan_create_fiber(0);
#endif
}

void fiber_context::end_announced() noexcept {
#if WEFT_THREAD_SANITIZER
  __tsan_destroy_fiber(announcement_->fiber);
#endif
  delete announcement_;
}

[[gnu::always_inline]] inline void fiber_context::exchange(exception_state& thread) noexcept {
  const exception_state outer = thread;
  thread = exceptions_;
  stack_point here;
  switch_stack(&here, &point_);
  exceptions_ = thread;
  is_special_ = announces_switches || !exceptions_.is_clear();
  thread = outer;
}

void fiber_context::keep(exception_state& thread) noexcept {
  exceptions_ = std::exchange(thread, {});
  is_special_ = true;
}

[[gnu::cold]] void fiber_context::resume_specially(const fiber_thread& thread) noexcept {
  if (announces_switches)
    resume_announced(*thread.exceptions);
  else
    exchange(*thread.exceptions);
}

void fiber_context::resume_announced(exception_state& thread) noexcept {
#if WEFT_THREAD_SANITIZER
  announcement_->resumer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(announcement_->fiber, 0);
#endif
#if WEFT_ADDRESS_SANITIZER
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, limit_, size());
#endif
  exchange(thread);
#if WEFT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

stack_arrival fiber_context::suspend_announced(stack_arrival last) noexcept {
  announcement& told = *reinterpret_cast<fiber_context*>(last.own)->announcement_;
  told.will_switch_out(false);
  const stack_arrival next = switch_back(last);
  told.has_switched_in();
  return next;
}

}  // namespace WEFT_NAMESPACE::detail
