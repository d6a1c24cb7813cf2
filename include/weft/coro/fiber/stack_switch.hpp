// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where a stack was left and is to be gone on with. The assembly below knows the layout.
struct stack_point {
  void* stack_pointer;
  void* frame_pointer;
  void* instruction;
};

/// Where a stack begins: a function that never returns. It is given the point that it was switched
/// to from, and its own.
using stack_entry = void (*)(stack_point* from, stack_point* own);

/// Who has switched to a stack, and where that had been left. Both come in registers: who has been
/// switched to need not wait for its memory to find out.
struct stack_arrival {
  stack_point* from;
  stack_point* own;
};

/// Leaves this stack at `*from` and goes on with the one at `*to`. Returns when somebody switches
/// to `*from`.
///
/// It is a jump in the middle of the function that it is inlined into: the compiler itself keeps
/// what it needs of the registers, on the stack, and the prediction of jumps and of returns is not
/// put out. Not switched are the control words of floating point (x87 control word, MXCSR, FPCR),
/// the signal mask, and what is thread-local. There must be no shadow stack (x86 CET) in force.
///
/// A compiler may look up the address of a thread-local variable once in a function and use it
/// throughout: so a function that switches, or that one is inlined into, touches none.
[[gnu::always_inline]] inline stack_arrival switch_stack(stack_point* from,
                                                         stack_point* to) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, 0(%%rdi)\n\t"
      "movq %%rbp, 8(%%rdi)\n\t"
      "movq %%rax, 16(%%rdi)\n\t"
      "movq 0(%%rsi), %%rsp\n\t"
      "movq 8(%%rsi), %%rbp\n\t"
      "jmpq *16(%%rsi)\n"
      "1:\tendbr64"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",
        "k6", "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "mm0", "mm1", "mm2",
        "mm3", "mm4", "mm5", "mm6", "mm7", "cc", "memory");
  return {from, to};
#elif defined(__aarch64__)
  register stack_point* left asm("x0") = from;
  register stack_point* entered asm("x1") = to;
  // Through x16 a jump may enter a function too where branch targets are checked (BTI). A stack
  // that begins has nobody to return to.
  asm volatile(
      "adr x16, 1f\n\t"
      "mov x17, sp\n\t"
      "stp x17, x29, [x0]\n\t"
      "str x16, [x0, #16]\n\t"
      "ldp x17, x29, [x1]\n\t"
      "ldr x16, [x1, #16]\n\t"
      "mov sp, x17\n\t"
      "mov x30, xzr\n\t"
      "br x16\n"
      "1:\thint #36"
      : "+r"(left), "+r"(entered)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
        "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
        "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
  return {left, entered};
#else
#error "weft has no stack switch for this processor"
#endif
}

/// A stack that grows downwards from `top`, and begins with `entry` when it is switched to. The
/// return address of that function is null: there debuggers and unwinders stop.
inline stack_point begin_stack(void* top, stack_entry entry) noexcept {
  auto* at = reinterpret_cast<std::uintptr_t*>(reinterpret_cast<std::uintptr_t>(top) &
                                               ~std::uintptr_t{15});
#if defined(__x86_64__)
  *--at = 0;
#endif
  return {at, nullptr, reinterpret_cast<void*>(entry)};
}

}  // namespace WEFT_NAMESPACE::detail
