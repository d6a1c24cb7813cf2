// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include <weft/base/operation_function.hpp>
#include <weft/context/handover.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE::detail {

/// The two ways in which a pending operation is ended.
struct operation_endings {
  operation::function complete;  ///< On a thread of its scheduler; knows where it is to arrive.
  operation::function arrive;    ///< In an executor.
};

/// Throws what an executor has thrown, if it has.
WEFT_API void rethrow(std::exception_ptr refusal);

/// Gives the operation to an executor, which is to end it by `next`. Returns what the executor
/// threw if it has refused: the operation is the caller's then. Throws what the handler throws.
template <class Executor, class Allocator>
std::exception_ptr offer(operation* op, operation::function next, operation::function complete,
                         const Executor& executor, const Allocator& allocator) {
  handover::ends_by(op, next);
  handover given(op);
  try {
    executor_dispatch(executor, operation_function(op), allocator);
  } catch (...) {
    if (given.is_returned())
      return std::current_exception();
    throw;
  }
  if (given.is_returned()) {
    handover::ends_by(op, complete);
    op->destroy();
  }
  return nullptr;
}

/// Has an executor run the operation, or destroy it, later. False if it refuses: the operation is
/// the caller's. (One that takes it and throws all the same has nobody here to tell.)
template <class Executor>
bool post_to(Executor executor, operation* op) noexcept {  // a copy: the operation may own it
  handover given(op);
  try {
    executor_post(executor, operation_function(op), std::allocator<void>());
  } catch (...) {}
  return !given.is_returned();
}

/// Offers the operation to its handler's executor, which is not its scheduler's. If that refuses,
/// it is queued again with its scheduler, to be offered anew; returns what was thrown. `stored` is
/// a member of the operation.
template <class Executor, class Allocator>
std::exception_ptr offer_elsewhere(operation* op, operation_endings endings,
                                   completion_work<Executor>& stored, scheduler& owner,
                                   const Allocator& allocator) {
  completion_work<Executor> work(std::move(stored));
  std::exception_ptr refusal =
      offer(op, endings.arrive, endings.complete, *work.elsewhere(owner), allocator);
  if (refusal) {
    std::destroy_at(&stored);
    std::construct_at(&stored, std::move(work));
    handover::ends_by(op, endings.complete);
    scheduler_post(owner, op);
  }
  return refusal;
}

// An any_io_executor needs no memory for an operation, so nothing depends on the allocator; what it
// does is compiled in the library.

WEFT_API std::exception_ptr offer(operation* op, operation::function next,
                                  operation::function complete, const any_io_executor& executor);
WEFT_API std::exception_ptr offer_elsewhere(operation* op, operation_endings endings,
                                            completion_work<any_io_executor>& stored,
                                            scheduler& owner);

template <class Allocator>
std::exception_ptr offer(operation* op, operation::function next, operation::function complete,
                         const any_io_executor& executor, const Allocator&) {
  return offer(op, next, complete, executor);
}
template <class Allocator>
std::exception_ptr offer_elsewhere(operation* op, operation_endings endings,
                                   completion_work<any_io_executor>& stored, scheduler& owner,
                                   const Allocator&) {
  return offer_elsewhere(op, endings, stored, owner);
}

}  // namespace WEFT_NAMESPACE::detail
