// SPDX-License-Identifier: BSL-1.0
#include "coro/fiber/suspended_stack.hpp"

#include <unwind.h>

#include <cstdint>

// `weft_call_below(point, argument, f)` calls `f(argument)`, and tells unwinders that it was itself
// called by the code at `point`, on the stack that was left there. In the expressions of the DWARF
// call frame information a register holds `point`:
//   the stack pointer  is the frame's address (CFA): what `point` points at
//   the frame pointer  was saved 8 bytes behind
//   the way back       was saved 16 bytes behind
// Other registers of the suspended code were given up before the switch.
extern "C" void weft_call_below(const void* point, void* argument, void (*f)(void*)) noexcept;

#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl weft_call_below
  .hidden weft_call_below
  .type weft_call_below, @function
weft_call_below:
  .cfi_startproc
  endbr64
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  movq %rdi, %rbx
  movq %rsi, %rdi
  .cfi_remember_state
  .cfi_escape 0x0f, 3, 0x73, 0, 0x06
  .cfi_escape 0x10, 16, 2, 0x73, 16
  .cfi_escape 0x10, 6, 2, 0x73, 8
  .cfi_same_value %rbx
  callq *%rdx
  .cfi_restore_state
  popq %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rbx
  ret
  .cfi_endproc
  .size weft_call_below, . - weft_call_below
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .p2align 4
  .globl weft_call_below
  .hidden weft_call_below
  .type weft_call_below, %function
weft_call_below:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  str x19, [sp, #16]
  .cfi_rel_offset x19, 16
  mov x19, x0
  mov x0, x1
  .cfi_remember_state
  .cfi_escape 0x0f, 3, 0x83, 0, 0x06
  .cfi_escape 0x10, 30, 2, 0x83, 16
  .cfi_escape 0x10, 29, 2, 0x83, 8
  .cfi_same_value x19
  blr x2
  .cfi_restore_state
  ldr x19, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x19
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
  .size weft_call_below, . - weft_call_below
  .popsection
)");
#endif

namespace WEFT_NAMESPACE::detail {
namespace {

struct walk {
  std::span<void*> calls;
  std::size_t count = 0;
  bool is_below = false;
};

_Unwind_Reason_Code step(_Unwind_Context* frame, void* argument) {
  auto& w = *static_cast<walk*>(argument);
  if (!w.is_below) {
    w.is_below = _Unwind_GetRegionStart(frame) == reinterpret_cast<_Unwind_Ptr>(&weft_call_below);
    return _URC_NO_REASON;
  }
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
  if (address == 0 || w.count == w.calls.size())
    return _URC_END_OF_STACK;
  w.calls[w.count++] = reinterpret_cast<void*>(address);
  return _URC_NO_REASON;
}

}  // namespace

std::size_t suspended_calls(const stack_point& point, std::span<void*> calls) noexcept {
  walk w{.calls = calls};
  weft_call_below(&point, &w, [](void* argument) { _Unwind_Backtrace(&step, argument); });
  return w.count;
}

}  // namespace WEFT_NAMESPACE::detail
