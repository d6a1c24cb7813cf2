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

/// Where a stack begins: a function that never returns. It is given the point of who has resumed
/// it, and its own.
using stack_entry = void (*)(stack_point* from, stack_point* own);

/// The two sides of a switch: who resumes a stack, and the stack. Both come in registers, and stay
/// in the same ones whichever way the switch goes: who has been switched to need not wait for its
/// memory to find out.
struct stack_arrival {
  stack_point* from;
  stack_point* own;
};

// Branch targets are marked where the compiler marks its own.
#if defined(__x86_64__) && defined(__CET__)
#define WEFT_BRANCH_TARGET "endbr64"
#elif defined(__ARM_FEATURE_BTI_DEFAULT)
#define WEFT_BRANCH_TARGET "hint #36"
#else
#define WEFT_BRANCH_TARGET ""
#endif

#if defined(__x86_64__)
#define WEFT_SWITCH_STACK         \
  "leaq 1f(%%rip), %%rax\n\t"     \
  "movq %%rsp, 0(%[left])\n\t"    \
  "movq %%rbp, 8(%[left])\n\t"    \
  "movq %%rax, 16(%[left])\n\t"   \
  "movq 0(%[entered]), %%rsp\n\t" \
  "movq 8(%[entered]), %%rbp\n\t" \
  "jmpq *16(%[entered])\n"        \
  "1:\t" WEFT_BRANCH_TARGET
#if defined(__AVX512F__)
#define WEFT_WIDE_REGISTERS                                                                     \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", \
      "k6", "k7"
#else
#define WEFT_WIDE_REGISTERS
#endif
#define WEFT_SWITCHED                                                                           \
  "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",     \
      "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
      "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",    \
      "st(6)", "st(7)", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7", "cc",           \
      "memory" WEFT_WIDE_REGISTERS
#define WEFT_RESUMER "+D"
#define WEFT_RESUMED "+S"
#define WEFT_HELD(variable, name) variable
#elif defined(__aarch64__)
// Through x16 a jump may enter a function too where branch targets are checked (BTI). A stack that
// begins has nobody to return to.
#define WEFT_SWITCH_STACK          \
  "adr x16, 1f\n\t"                \
  "mov x17, sp\n\t"                \
  "stp x17, x29, [%[left]]\n\t"    \
  "str x16, [%[left], #16]\n\t"    \
  "ldp x17, x29, [%[entered]]\n\t" \
  "ldr x16, [%[entered], #16]\n\t" \
  "mov sp, x17\n\t"                \
  "mov x30, xzr\n\t"               \
  "br x16\n"                       \
  "1:\t" WEFT_BRANCH_TARGET
#if defined(__ARM_FEATURE_SVE)
#define WEFT_WIDE_REGISTERS                                                                        \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", \
      "p15", "ffr"
#else
#define WEFT_WIDE_REGISTERS
#endif
#define WEFT_SWITCHED                                                                              \
  "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", \
      "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",   \
      "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",      \
      "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26",   \
      "v27", "v28", "v29", "v30", "v31", "cc", "memory" WEFT_WIDE_REGISTERS
#define WEFT_RESUMER "+r"
#define WEFT_RESUMED "+r"
#define WEFT_HELD(variable, name) register variable asm(name)
#else
#error "weft has no stack switch for this processor"
#endif

/// Leaves this stack at `*from` and goes on with the one at `*to`. Returns when that one switches
/// back.
///
/// It is a jump in the middle of the function that it is inlined into: the compiler itself keeps
/// what it needs of the registers, on the stack, and the prediction of jumps and of returns is not
/// put out. Not switched are the control words of floating point (x87 control word, MXCSR, FPCR),
/// the signal mask, and what is thread-local. There must be no shadow stack (x86 CET) in force.
///
/// A compiler may look up the address of a thread-local variable once in a function and use it
/// throughout: so a function that switches, or that one is inlined into, touches none.
[[gnu::always_inline]] inline void switch_stack(stack_point* from, stack_point* to) noexcept {
  WEFT_HELD(stack_point * resumer, "x0") = from;
  WEFT_HELD(stack_point * resumed, "x1") = to;
  asm volatile(WEFT_SWITCH_STACK
               : [left] WEFT_RESUMER(resumer), [entered] WEFT_RESUMED(resumed)
               :
               : WEFT_SWITCHED);
}

/// The way back: leaves this stack at `*last.own` and goes on with who has resumed it. Returns when
/// somebody resumes it again: who.
[[gnu::always_inline]] inline stack_arrival switch_back(stack_arrival last) noexcept {
  WEFT_HELD(stack_point * resumer, "x0") = last.from;
  WEFT_HELD(stack_point * resumed, "x1") = last.own;
  asm volatile(WEFT_SWITCH_STACK
               : [entered] WEFT_RESUMER(resumer), [left] WEFT_RESUMED(resumed)
               :
               : WEFT_SWITCHED);
  return {resumer, resumed};
}

#undef WEFT_BRANCH_TARGET
#undef WEFT_SWITCH_STACK
#undef WEFT_WIDE_REGISTERS
#undef WEFT_SWITCHED
#undef WEFT_RESUMER
#undef WEFT_RESUMED
#undef WEFT_HELD

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
