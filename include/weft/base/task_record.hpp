// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>

#include <weft/base/task_gate.hpp>

namespace WEFT_NAMESPACE::detail {

class task_record;

/// What the tasks of one style have in common.
struct task_kind {
  const char* name;
  /// Where the calls stand that a waiting task is in, the innermost first: as many as there is room
  /// for. Returns their number.
  std::size_t (*calls)(const task_record&, std::span<std::source_location>) noexcept;
  /// The same for one with a stack of its own: where its calls go on. Null otherwise.
  std::size_t (*stack)(const task_record&, std::span<void*>) noexcept = nullptr;
};

/// Where a task is recorded; with what stays the same while it lives.
struct task_slot : basic_task_slot<task_atomics> {
  std::uint64_t id = 0;
  union {
    task_slot* next;  // while it is free
    const task_kind* kind;
  };
  union {
    task_slot* below;  // while it is the first of a batch in the store
    std::source_location spawned;
  };

  task_slot() noexcept : next(nullptr), below(nullptr) {}
};

/// Slots as they are allocated: never freed. A debugger knows the layout (gdb/weft.py).
struct task_chunk {
  static constexpr std::uint32_t most = 64;

  task_chunk* next = nullptr;
  std::size_t size = most;
  task_slot slots[most];
};
static_assert(sizeof(task_chunk) == 2 * sizeof(void*) + task_chunk::most * sizeof(task_slot));

/// The free slots that a thread has, as thread_memory has its blocks: up to two batches, of which
/// the second is whole or empty. Both are empty, and there is no room, while it has no lists.
struct thread_task_slots {
  task_slot* first = nullptr;
  std::uint32_t room = 0;
  task_slot* previous = nullptr;
  std::uint64_t last_id = 0;  // of the tasks that began here
};

/// All slots. To take or to give one costs a thread a few plain stores; batches are exchanged with
/// a central store. Any thread, at any time, also before main and after it. O(1), amortised.
class WEFT_API task_slots {
 public:
  /// Null if tasks are not recorded, or there is no memory.
  static task_slot* take() noexcept {
    if (!recorded.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    task_slot* slot = own.first;
    if (slot) [[likely]] {
      own.first = slot->next;
      ++own.room;
    } else if (slot = take_slowly(); !slot) {
      return nullptr;
    }
    slot->id = ++own.last_id;
    return slot;
  }
  static void give(task_slot* slot) noexcept {
    if (own.room == 0) [[unlikely]]
      return give_slowly(slot);
    --own.room;
    slot->next = own.first;
    own.first = slot;
  }

  /// Calls `f(slots)`, with a few at a time, inside rounds of the gate: for all that there are when
  /// it is called. False if the kernel refuses the gate's barrier.
  static bool read(void (*f)(void* argument, std::span<const task_slot>), void* argument);

  static constinit std::atomic<bool> recorded;
  static constinit basic_task_gate<task_atomics> gate;
  // All there are, the newest first; each store's release pairs with the reader's acquire.
  static constinit std::atomic<task_chunk*> chunks;

 private:
  static task_slot* take_slowly() noexcept;
  static void give_slowly(task_slot* slot) noexcept;

  struct give_back;

  static constinit thread_local thread_task_slots own;
};

/// A base of whatever is a task: records it while it lives, or a part of that, if tasks are
/// recorded when that begins. See task_gate.hpp for when to call what.
class task_record : private basic_task_record<task_atomics> {
 public:
  /// The task is about to wait for something of the type with this type_text. Others may resume it
  /// once this has returned.
  void waits(const char* type) noexcept { basic_task_record::waits(type); }
  /// It goes on, or is about to be destroyed: before anything that its task_kind::calls reads is
  /// changed. Nothing happens if it does not wait.
  void goes_on() noexcept { basic_task_record::goes_on(task_slots::gate); }

  // For the reader, in a round of the gate.
  using basic_task_record::waits_for;
  static const task_record* in(const task_slot& s) noexcept {
    return static_cast<const task_record*>(s.read());
  }

 protected:
  task_record() = default;
  task_record(const task_kind& kind, const std::source_location& spawned) noexcept {
    record(kind, spawned);
  }
  ~task_record() { end_record(); }

  /// Once, until the end of it.
  void record(const task_kind& kind, const std::source_location& spawned) noexcept {
    slot_ = task_slots::take();
    if (!slot_) [[unlikely]]
      return;
    slot_->kind = &kind;
    std::construct_at(&slot_->spawned, spawned);
    begins(*slot_);
  }
  void end_record() noexcept {
    if (!slot_)
      return;
    ends(*slot_, task_slots::gate);
    task_slots::give(slot_);
    slot_ = nullptr;
  }

 private:
  task_slot* slot_ = nullptr;  // null: it is not recorded
};

}  // namespace WEFT_NAMESPACE::detail
