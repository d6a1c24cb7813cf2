// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <new>
#include <utility>

#include <weft/base/operation.hpp>
#include <weft/base/reference_count.hpp>
#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// An operation as a nullary function, of which executors may keep copies: the first call of any
/// copy ends the operation, further ones do nothing, and the end of the last copy destroys it
/// un-called. make_function_operation gives back the operation inside, so that a function whose
/// type was erased on its way to an executor is not allocated again there.
///
/// Moving is free. The first copy makes a block, of recycled memory, that all copies share; it
/// changes the object that it is made of, so one thread at a time may copy that. Different copies
/// may be called and destroyed on different threads.
class operation_function {
 public:
  explicit operation_function(operation* op) noexcept : op_(op) {}

  /// Throws std::bad_alloc.
  operation_function(const operation_function& other) : op_(nullptr), shared_(other.share()) {}
  operation_function(operation_function&& other) noexcept
      : op_(std::exchange(other.op_, nullptr)), shared_(std::exchange(other.shared_, nullptr)) {}
  operation_function& operator=(operation_function other) noexcept {
    swap(other);
    return *this;
  }
  ~operation_function() {
    if (operation* op = shared_ ? leave() : op_)
      op->destroy();
  }

  void operator()() {
    if (operation* op = release())
      op->invoke();
  }

  /// The operation, or null if it has been taken already, from this object or from a copy.
  operation* release() noexcept {
    return shared_ ? shared_->op.exchange(nullptr, std::memory_order_acq_rel)
                   : std::exchange(op_, nullptr);
  }

  void swap(operation_function& other) noexcept {
    std::swap(op_, other.op_);
    std::swap(shared_, other.shared_);
  }

 private:
  struct shared_operation {
    explicit shared_operation(operation* o) noexcept : op(o) {}
    reference_count copies;
    // Whoever exchanges it for null owns the operation. Its releases pair with its own acquires.
    std::atomic<operation*> op;
  };

  shared_operation* share() const {
    if (!shared_) {
      if (!op_)
        return nullptr;
      void* memory = thread_memory::allocate(sizeof(shared_operation), alignof(shared_operation));
      shared_ = ::new (memory) shared_operation(std::exchange(op_, nullptr));
    }
    shared_->copies.add();
    return shared_;
  }

  /// Returns the operation if it is this copy's to destroy.
  operation* leave() noexcept {
    if (!shared_->copies.drop())
      return nullptr;
    operation* op = release();
    shared_->~shared_operation();
    thread_memory::deallocate(shared_, sizeof(shared_operation), alignof(shared_operation));
    return op;
  }

  // One of them is null.
  mutable operation* op_;
  mutable shared_operation* shared_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
