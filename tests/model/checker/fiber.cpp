// SPDX-License-Identifier: BSL-1.0
// The fortified longjmp(3) refuses to leave one stack for another.
#undef _FORTIFY_SOURCE
#include "model/checker/fiber.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_MODEL_ASAN 1
#endif
#endif
#ifdef WEFT_MODEL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace model::detail {

#ifdef WEFT_MODEL_ASAN
ignore_leaks::ignore_leaks() noexcept {
  __lsan_disable();
}
ignore_leaks::~ignore_leaks() {
  __lsan_enable();
}
#else
ignore_leaks::ignore_leaks() noexcept = default;
ignore_leaks::~ignore_leaks() = default;
#endif

fiber* fiber::arriving_ = nullptr;
fiber* fiber::leaving_ = nullptr;

fiber::fiber() noexcept : entry_(nullptr), argument_(nullptr) {}

fiber::fiber(void (*entry)(void*), void* argument)
    : entry_(entry),
      argument_(argument),
      stack_(new std::byte[stack_size]),
      bottom_(stack_.get()),
      size_(stack_size),
      is_fresh_(true) {}

void fiber::enter() {
  fiber* const self = arriving_;
  self->arrive();
  self->entry_(self->argument_);
  std::abort();
}

void fiber::arrive() noexcept {
#ifdef WEFT_MODEL_ASAN
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &size);
  if (!leaving_->entry_) {
    leaving_->bottom_ = bottom;
    leaving_->size_ = size;
  }
#endif
}

void fiber::switch_to(fiber& next) noexcept {
  auto* const exceptions = reinterpret_cast<std::byte*>(abi::__cxa_get_globals());
  std::memcpy(&exceptions_, exceptions, sizeof exceptions_);
  if (next.is_fresh_)
    next.exceptions_ = exception_state();
  std::memcpy(exceptions, &next.exceptions_, sizeof exceptions_);
  leaving_ = this;
  arriving_ = &next;
  if (_setjmp(registers_) == 0) {
#ifdef WEFT_MODEL_ASAN
    if (next.is_fresh_) {
      next.fake_stack_ = nullptr;
      __asan_unpoison_memory_region(next.stack_.get(), stack_size);
    }
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_);
#endif
    if (next.is_fresh_) {
      next.is_fresh_ = false;
      getcontext(&next.start_);
      next.start_.uc_stack.ss_sp = next.stack_.get();
      next.start_.uc_stack.ss_size = stack_size;
      next.start_.uc_link = nullptr;
      makecontext(&next.start_, &fiber::enter, 0);
      setcontext(&next.start_);
    }
    _longjmp(next.registers_, 1);
  }
  arriving_->arrive();
}

}  // namespace model::detail
