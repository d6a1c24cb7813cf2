// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cassert>
#include <source_location>

#include <weft/async/cancellation_state.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/task_record.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/coro/fiber/fiber_context.hpp>
#include <weft/coro/resume_loop.hpp>

namespace WEFT_NAMESPACE::detail {

/// What unwinds the stack of a fiber that is destroyed while it waits. Code that catches everything
/// rethrows it.
class fiber_unwind {
 private:
  friend class fiber_base;
  fiber_unwind() = default;
};

/// A fiber: a function with a stack of its own, that waits where others would block. It is what the
/// coroutines of a co_spawn are in logical_thread: whoever holds it (the operation that is waited
/// for, in its handler or in its frame; an executor's queue; the loop that runs it) ends that by
/// `resume` or by `dismiss`. It is used by one thread at a time.
///
/// **Publication.** Another thread may resume a fiber as soon as it can be found, so it is found
/// only when it has been switched away from. `wait(after, argument, awaited)` does that: `after` is
/// called on the stack of the resumer, when all that there is of the fiber lies in memory, and
/// hands it to whoever is to resume it. From there on the resumer touches nothing of it. Before,
/// the resumer records that it waits for something of the type with this type_text, or that it does
/// not: so who reads the record finds its stack at rest.
///
/// Only an initiating function that makes a handler of the fiber is called on the fiber's own
/// stack, since it may complete at once, and there must be no switch then. If the handler is called
/// on another thread before the fiber has been switched away from, it waits there for that
/// (`await_parked`): some hundred instructions, unless the thread is preempted.
///
/// **End.** The function ends by itself, or, if the fiber is dismissed while it waits, by
/// fiber_unwind, which `wait` throws. Its stack is then left for good, and the resumer concludes or
/// dismisses the fiber.
class WEFT_API fiber_base : public operation, public task_record, private fiber_context {
 public:
  /// So many operations in a row may complete at once before others have their turn (P2).
  static constexpr unsigned most_in_place = 32;

  /// Called on the resumer's stack. Returns whether the fiber goes on at once.
  using after_switch = bool (*)(fiber_base&, void* argument) noexcept;

  cancellation_slot parent_slot;
  cancellation_state cancellation;
  bool throws_if_cancelled = true;

  /// The scheduler behind the fiber's executor, if that does nothing but hand functions to it, or
  /// null.
  scheduler* native() const noexcept { return native_; }
  const fiber_context& context() const noexcept { return *this; }
  const std::source_location& where_spawned() const noexcept { return where_; }

  // ---- for who owns it

  /// Runs it until it waits again, or concludes it. Throws what that throws.
  void resume() {
    if (run()) [[unlikely]]
      end();
  }
  /// Unwinds it if it has begun, and destroys it, and the handler un-called.
  void dismiss() noexcept;

  // ---- on its own stack

  /// It is about to wait. Throws if it has been cancelled.
  void begin_wait() {
    if (is_initiating_) [[unlikely]]
      waits_twice();
    arm(cancellation);
    if (throws_if_cancelled && !!cancellation.cancelled()) [[unlikely]]
      throw_cancelled();
  }
  /// It is inlined, with the switch, into the function that waits: a return on this side of a
  /// switch from a call on the other would be predicted wrongly.
  [[gnu::always_inline]] void wait(after_switch after, void* argument = nullptr,
                                   const char* awaited = nullptr) {
    assert(is_running() && "a fiber waits by a yield_context of its own, and no other's");
    if (is_unwinding_) [[unlikely]]
      unwind_here();
    after_ = after;
    argument_ = argument;
    awaited_ = awaited;
    suspend();
    if (is_unwinding_) [[unlikely]]
      unwind_here();
  }
  /// Lets others have their turn.
  [[gnu::always_inline]] void yield() { wait(&submit_again); }
  /// An operation has completed without a switch.
  [[gnu::always_inline]] void completed_in_place() {
    if (!may_go_on()) [[unlikely]]
      yield();
  }
  bool may_go_on() noexcept { return ++in_place_ <= most_in_place; }
  /// An operation has ended without completing: so does the fiber.
  [[noreturn]] void unwind_here();

  // ---- for a handler of the fiber's

  /// Around the call of the initiating function, which must not make the fiber wait for anything
  /// else: what it has started may complete meanwhile, and would find the fiber waiting elsewhere.
  void begin_initiation() noexcept {
    is_parked_.store(false, std::memory_order_relaxed);
    is_initiating_ = true;
  }
  void end_initiation() noexcept { is_initiating_ = false; }
  /// Hands it to the handler, which was made by the initiating function.
  [[gnu::always_inline]] void wait_for_handler(const char* awaited) {
    wait(&park, nullptr, awaited);
  }
  /// The handler has been called elsewhere: afterwards the fiber is its own.
  void await_parked() const noexcept {
    // Pairs with the release in `park`.
    if (!is_parked_.load(std::memory_order_acquire)) [[unlikely]]
      await_parking();
  }

  /// Has the executor run it. Returns whether it will.
  bool submit() noexcept {
    if (native_) [[likely]] {
      scheduler_post(*native_, this);
      return true;
    }
    return kind_.submit(*this);
  }

 protected:
  /// What depends on the types of the executor, the function, and the handler.
  struct kind {
    void (*call)(fiber_base&);              // the function, on the fiber's stack
    void (*conclude)(fiber_base&);          // the function has ended
    void (*release)(fiber_base&) noexcept;  // destroys the fiber, the handler un-called
    bool (*submit)(fiber_base&) noexcept;
  };

  fiber_base(operation::function f, const kind& k, scheduler* native, void* limit, void* top,
             const std::source_location& where) noexcept
      : operation(f),
        task_record(fibers, where),
        fiber_context(limit, top, &enter),
        kind_(k),
        native_(native),
        where_(where) {}
  ~fiber_base() = default;

 private:
  enum class stage : unsigned char { queued, begun, ended };

  static const task_kind fibers;

  static std::size_t stack(const task_record& task, std::span<void*> calls) noexcept;
  static void enter(fiber_context& context);
  static bool park(fiber_base& self, void*) noexcept;
  static bool submit_again(fiber_base& self, void*) noexcept;
  bool is_running() const noexcept;
  bool run() noexcept;
  void end();
  void disconnect() noexcept;
  void await_parking() const noexcept;
  [[noreturn]] static void throw_cancelled();
  [[noreturn]] void waits_twice() const noexcept;

  after_switch after_ = nullptr;
  void* argument_ = nullptr;
  const char* awaited_ = nullptr;
  const kind& kind_;
  scheduler* const native_;
  stage stage_ = stage::queued;
  bool is_unwinding_ = false;
  bool is_initiating_ = false;
  std::atomic<bool> is_parked_{false};
  unsigned in_place_ = 0;
  unsigned unwound_ = 0;
  resume_loop::nested loops_;  // on its stack
  std::source_location where_;
};

}  // namespace WEFT_NAMESPACE::detail
