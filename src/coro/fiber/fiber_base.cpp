// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/fiber/fiber_base.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include <weft/base/clock.hpp>
#include <weft/base/error.hpp>

#include "coro/fiber/overflow.hpp"
#include "coro/fiber/suspended_stack.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

/// A fiber that catches what unwinds it, and waits again, may do so as often before that is taken
/// for a mistake: handlers that clean up do it once each.
constexpr unsigned most_unwound = 100;

[[noreturn]] void swallowed(const std::source_location& where) noexcept {
  std::fprintf(stderr,
               "weft: the fiber spawned at %s:%u is destroyed while it waits, and has caught the "
               "exception that unwinds its stack without rethrowing it. End catch (...) with "
               "throw;\n",
               where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace

constinit const task_kind fiber_base::fibers{
    "fiber",
    [](const task_record&, std::span<std::source_location>) noexcept -> std::size_t { return 0; },
    &stack};

std::size_t fiber_base::stack(const task_record& task, std::span<void*> calls) noexcept {
  return suspended_calls(static_cast<const fiber_base&>(task).point(), calls);
}

void fiber_base::enter(fiber_context& context) {
  auto& self = static_cast<fiber_base&>(context);
  try {
    self.kind_.call(self);
    if (self.is_unwinding_)
      swallowed(self.where_);
  } catch (const fiber_unwind&) {}
  self.stage_ = stage::ended;
}

// On the stack of the resumer, which does not leave its thread meanwhile.
bool fiber_base::run() noexcept {
  fiber_thread& thread = fiber_thread::current();
  const fiber_base* const outer = thread.running;
  stage_ = stage::begun;
  in_place_ = 0;
  for (;;) {
    goes_on();
    thread.running = this;
    const resume_loop::nested loops = resume_loop::exchange_nested(loops_);
    fiber_context::resume(thread);
    loops_ = resume_loop::exchange_nested(loops);
    thread.running = outer;
    if (stage_ == stage::ended) [[unlikely]]
      return true;
    waits(awaited_);
    if (!after_(*this, argument_)) [[likely]]
      return false;
  }
}

void fiber_base::end() {
  disconnect();
  if (is_unwinding_)
    kind_.release(*this);
  else
    kind_.conclude(*this);
}

void fiber_base::dismiss() noexcept {
  disconnect();
  if (stage_ == stage::begun) {
    is_unwinding_ = true;
    run();
  }
  kind_.release(*this);
}

/// Before anything is destroyed that may own the signal.
void fiber_base::disconnect() noexcept {
  std::exchange(parent_slot, {}).clear();
  cancellation = {};
}

bool fiber_base::is_running() const noexcept {
  return running_fiber() == this;
}

void fiber_base::unwind_here() {
  is_unwinding_ = true;
  if (++unwound_ > most_unwound)
    swallowed(where_);
  throw fiber_unwind();
}

bool fiber_base::park(fiber_base& self, void*) noexcept {
  self.is_parked_.store(true, std::memory_order_release);
  return false;
}

bool fiber_base::submit_again(fiber_base& self, void*) noexcept {
  return !self.submit();
}

[[gnu::noinline, gnu::cold]] void fiber_base::await_parking() const noexcept {
  constexpr int spins = 64, yields = 64;
  constexpr std::int64_t nap = 20'000;  // nanoseconds
  for (int i = 0; !is_parked_.load(std::memory_order_acquire); ++i)
    if (i >= spins + yields)
      sleep_for(nap);
    else if (i >= spins)
      std::this_thread::yield();
}

void fiber_base::waits_twice() const noexcept {
  std::fprintf(stderr,
               "weft: the fiber spawned at %s:%u waits inside the initiating function of an "
               "operation that it is about to wait for. Wait before, or start the other operation "
               "with another token than the fiber's yield_context\n",
               where_.file_name(), static_cast<unsigned>(where_.line()));
  std::abort();
}

void fiber_base::throw_cancelled() {
  throw system_error(error::operation_aborted, "yield");
}

}  // namespace WEFT_NAMESPACE::detail
