// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace model::detail {

/// While it lives, what is allocated is no leak to LeakSanitizer: a fiber that is given up leaves
/// things behind.
struct ignore_leaks {
  ignore_leaks() noexcept;
  ignore_leaks(const ignore_leaks&) = delete;
  ignore_leaks& operator=(const ignore_leaks&) = delete;
  ~ignore_leaks();
};

/// A stack that runs `entry(argument)` when it is first switched to. `entry` must never return.
///
/// The first switch to a fiber is made by setcontext(3), the others by longjmp(3), which needs no
/// system call. The state of exception handling belongs to the fiber, like its registers.
class fiber {
 public:
  /// The fiber that this code runs on already.
  fiber() noexcept;
  fiber(void (*entry)(void*), void* argument);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Goes on there; returns when somebody switches back.
  void switch_to(fiber& next) noexcept;

  /// Gives up whatever the fiber was in the middle of, without unwinding: the next switch calls
  /// `entry` again. Not for the running fiber.
  void restart() noexcept { is_fresh_ = true; }

 private:
  static constexpr std::size_t stack_size = 256 * 1024;
  struct exception_state {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static void enter();
  void arrive() noexcept;

  void (*const entry_)(void*);
  void* const argument_;
  std::unique_ptr<std::byte[]> stack_;
  const void* bottom_ = nullptr;
  [[maybe_unused]] std::size_t size_ = 0;
  bool is_fresh_ = false;
  jmp_buf registers_;
  ucontext_t start_;
  exception_state exceptions_;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  static fiber* arriving_;
  static fiber* leaving_;
};

}  // namespace model::detail
