// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <mutex>
#include <utility>

#include <weft/context/strand_queue.hpp>

namespace WEFT_NAMESPACE::detail {

template <class Atomics>
bool basic_strand_queue<Atomics>::push(operation* op) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!closed_) {
      waiting_.push(op);
      return !std::exchange(scheduled_, true);
    }
  }
  op->destroy();
  return false;
}

template <class Atomics>
bool basic_strand_queue<Atomics>::try_enter() noexcept {
  std::lock_guard lock(mutex_);
  return !closed_ && !std::exchange(scheduled_, true);
}

/// Puts back what was not run. Returns whether the strand is idle now.
template <class Atomics>
bool basic_strand_queue<Atomics>::leave(operation_queue& rest) noexcept {
  std::lock_guard lock(mutex_);
  rest.splice(waiting_);
  waiting_.splice(rest);
  scheduled_ = !waiting_.empty();
  return !scheduled_;
}

template <class Atomics>
template <class Submit, class Before>
void basic_strand_queue<Atomics>::run(Submit submit_again, Before before, immediate first) {
  std::exception_ptr failure;
  for (;;) {
    operation_queue batch;
    {
      std::lock_guard lock(mutex_);
      ++runs_;
      batch.splice(waiting_);
    }
    try {
      if (auto call = std::exchange(first.call, nullptr))
        call(first.argument);
      for (unsigned left = Atomics::longest_turn; left != 0; --left) {
        operation* const op = batch.pop();
        if (!op)
          break;
        before(*op);
        op->invoke();
      }
    } catch (...) {
      if (!failure)
        failure = std::current_exception();
    }
    if (leave(batch) || submit_again())
      break;
  }
  if (failure)
    std::rethrow_exception(failure);
}

template <class Atomics>
unsigned basic_strand_queue<Atomics>::ticket() noexcept {
  std::lock_guard lock(mutex_);
  return runs_;
}

template <class Atomics>
bool basic_strand_queue<Atomics>::take_back(unsigned ticket, operation*& op) noexcept {
  operation* const wanted = std::exchange(op, nullptr);
  std::lock_guard lock(mutex_);
  if (runs_ != ticket)
    return false;
  operation_queue others;
  while (operation* waiting = waiting_.pop())
    if (waiting == wanted)
      op = wanted;
    else
      others.push(waiting);
  waiting_.splice(others);
  scheduled_ = !waiting_.empty();
  return scheduled_;
}

template <class Atomics>
void basic_strand_queue<Atomics>::close(operation_queue& abandoned) noexcept {
  std::lock_guard lock(mutex_);
  closed_ = true;
  abandoned.splice(waiting_);
}

}  // namespace WEFT_NAMESPACE::detail
