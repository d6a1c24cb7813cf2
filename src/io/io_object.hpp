// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <weft/base/word_mutex.hpp>
#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// The operations of one queue of an object, in the order they were started: a chain whose first
/// link knows the last as the one before it. Every member is O(1).
class io_operation_list {
 public:
  bool empty() const noexcept { return front_ == nullptr; }
  io_operation* front() const noexcept { return front_; }
  static io_operation* after(const io_operation* op) noexcept { return op->after_; }

  void push_back(io_operation* op) noexcept {
    op->after_ = nullptr;
    if (front_) {
      op->before_ = std::exchange(front_->before_, op);
      op->before_->after_ = op;
    } else {
      front_ = op->before_ = op;
    }
  }

  void erase(io_operation* op) noexcept {
    if (op == front_) {
      front_ = op->after_;
      if (front_)
        front_->before_ = op->before_;
    } else {
      op->before_->after_ = op->after_;
      (op->after_ ? op->after_ : front_)->before_ = op->before_;
    }
  }

 private:
  io_operation* front_ = nullptr;
};

/// One descriptor and what is pending on it. Objects are made and kept by the driver: the memory of
/// one lives as long as the driver, so a late event or a late cancel finds a valid object, at worst
/// one that serves another descriptor by now; it takes the lock and finds nothing to do.
///
/// Readiness: `ready[q]` is false only when the descriptor is known to have nothing for queue q,
/// and the backend will hear of it when that changes. An operation is tried at once only if it is
/// true.
///
/// Guarded by `mutex`: everything but the links and what is atomic.
class alignas(64) io_object {
 public:
  static constexpr int queue_count = 4;

  io_operation_list& list(io_queue q) noexcept { return lists[static_cast<int>(q)]; }
  bool& is_ready(io_queue q) noexcept { return ready[static_cast<int>(q)]; }
  void count_submitted(int change) noexcept {
    submitted.store(submitted.load(std::memory_order_relaxed) + static_cast<unsigned>(change),
                    std::memory_order_relaxed);
  }

  // What each operation looks at stands first, in one cache line.
  word_mutex mutex;
  std::atomic<int> fd{-1};  // written under the mutex
  io_operation_list lists[queue_count];
  bool ready[queue_count] = {};
  bool closed = true;
  bool pollable = true;                // false: regular files; their operations block
  std::atomic<unsigned> submitted{0};  // operations that the kernel has; written under the mutex

  // The io_uring backend's notes.
  bool emptied = false;           // the last read has found nothing, or has left nothing
  int registered = -1;            // the descriptor's entry in the ring's table, or -1
  unsigned until_registered = 0;  // so many more requests, and it gets one; 0: it will not

  // The epoll backend's notes.
  std::uint8_t misses = 0;     // reads in a row that were tried at once and found nothing
  bool level = false;          // level-triggered for reading: no attempt is made without an event
  bool hangup = false;         // the peer has finished: reading never blocks again
  std::uint32_t interest = 0;  // the events registered, or 0

  io_driver* driver = nullptr;
  std::atomic<unsigned> flags{0};     // the owner's notes
  std::atomic<unsigned> openings{0};  // how often it began to serve a descriptor
  std::atomic<unsigned> pooled{0};    // operations that a helper has; written under the mutex
  std::uint32_t zero_copy_sends = 0;

  // After a shortage of descriptors: until when (steady nanoseconds) the reads are held back; or
  // when the front of a queue is tried again that no readiness tells of; or 0.
  std::int64_t held_until = 0;
  unsigned shortage_closes = 0;  // the driver's count of closes at that time
  bool shortage = false;         // the last operation found no descriptor left
  bool in_held_list = false;
  std::atomic<bool> closing{false};  // closed, but not yet given back; written under the mutex

  // Links of the driver's lists.
  io_object* next_spare = nullptr;  // guarded by the driver's mutex_
  io_object* next_held = nullptr;   // guarded by the driver's held_mutex_
};

/// Objects that are made at a time.
struct io_object_block {
  io_object objects[32];
  io_object_block* next = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
