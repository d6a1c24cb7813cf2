// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// A wait for the end of a phase, perhaps with an arrival in the present one.
struct barrier_request {
  std::size_t phase = 0;
  bool arrives = false;
};

/// When the last has arrived (`missing_` is 0), the phase is completed: with no lock held, since
/// that calls the program's function. Nobody arrives meanwhile, nor takes an arrival back.
template <class Policy>
class barrier_core final : public wait_core<Policy> {
 public:
  using request = barrier_request;
  using operation = core_request<barrier_core>;

  barrier_core(execution_context& context, std::size_t expected, std::function<void()> completion)
      : wait_core<Policy>(context),
        completion_(std::move(completion)),
        expected_(expected),
        missing_(expected) {
    assert(expected != 0 && "a barrier expects at least one arrival in each phase");
  }

  /// Returns the phase it arrived in.
  std::size_t arrive(std::size_t n, std::size_t dropped) noexcept {
    assert(n != 0 && "nobody arrives at a barrier");
    std::size_t phase;
    {
      const std::lock_guard lock(*this);
      phase = phase_;
      if (n == 0)  // it would complete a phase that is being completed
        return phase;
      expected_ -= dropped;
      if (!take_arrivals(n))
        return phase;
    }
    complete_phase();
    return phase;
  }

  bool try_enter(const request& asked) noexcept {
    const std::lock_guard lock(*this);
    return !asked.arrives && asked.phase != phase_;
  }

  bool wait(operation& op) noexcept {
    const std::lock_guard lock(*this);
    const bool goes_on = op.asked().arrives ? take_arrivals(1) : op.asked().phase != phase_;
    if (goes_on) {
      op.become_granted();
      return false;
    }
    op.become_pending();
    waiting_.push(op);
    return true;
  }

  void conclude(const operation& op) noexcept {
    if (op.asked().arrives)
      complete_phase();
  }

  void withdraw(waiting_operation& base, completed_waits& out) noexcept {
    auto& op = static_cast<operation&>(base);
    if (missing_ == 0)
      return;
    waiting_.remove(op);
    if (op.asked().arrives)
      ++missing_;
    out.abort(op);
  }

 private:
  /// Whether that completes the phase.
  bool take_arrivals(std::size_t n) noexcept {
    assert(n <= missing_ && "more arrive at a barrier than it expects");
    missing_ -= n;
    return missing_ == 0;
  }

  void complete_phase() noexcept {
    if (completion_)
      completion_();
    completed_waits done;
    const std::lock_guard lock(*this);
    ++phase_;
    missing_ = expected_;
    done.grant(waiting_);
  }

  void take_pending(completed_waits& out) noexcept override {
    while (missing_ != 0 && !waiting_.empty())
      withdraw(*waiting_.front(), out);
  }
  void take_all(completed_waits& out) noexcept override { out.abort(waiting_); }

  const std::function<void()> completion_;
  std::size_t expected_;
  std::size_t missing_;
  std::size_t phase_ = 0;
  wait_list<operation> waiting_;
};

}  // namespace detail

/// Lets a group go on together, phase by phase: each arrives and waits until all have arrived.
///
///     async_barrier barrier(context, 4);
///     for (const step& s : steps) {          // each of four coroutines
///       co_await work_on(s);
///       co_await barrier.async_arrive_and_wait();
///     }
///
/// When the last one arrives it calls the completion function, inside the function that it arrived
/// by; then all go on, and the next phase begins.
///
/// Each wait completes with success when its phase is complete, and with error::operation_aborted
/// if it was cancelled before (terminal, partial, total; `cancel`), or the barrier was destroyed.
/// A cancelled `async_arrive_and_wait` has not arrived: the others wait for another in its place. A
/// cancellation that comes when all have arrived changes nothing.
///
/// Cost: O(1) under a short lock, two atomic read-modify-writes, and none of `sharing::local`; the
/// last arrival, O(1) for each wait. Thread safety: all members, any thread, but for the
/// destructor; with `sharing::local`, one thread.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_barrier : public detail::wait_object<detail::barrier_core<Policy>, Executor> {
  using base = detail::wait_object<detail::barrier_core<Policy>, Executor>;
  using request = detail::barrier_request;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_barrier<Policy, Executor1>;
  };

  /// The phase that somebody arrived in.
  class arrival_token {
   private:
    friend basic_async_barrier;
    explicit arrival_token(std::size_t phase) noexcept : phase_(phase) {}
    std::size_t phase_;
  };

  /// For `expected` arrivals in each phase, at least 1. `completion` is called at the end of each;
  /// it must not throw, nor use the barrier. Throws std::bad_alloc.
  basic_async_barrier(const Executor& executor, std::size_t expected,
                      std::function<void()> completion = nullptr)
      : base(executor, expected, std::move(completion)) {}
  template <detail::executor_source<Executor> Context>
  basic_async_barrier(Context& context, std::size_t expected,
                      std::function<void()> completion = nullptr)
      : base(Executor(context.get_executor()), expected, std::move(completion)) {}

  /// Arrives, `n` times, at least once, at most as often as is still expected in this phase. Does
  /// not wait.
  arrival_token arrive(std::size_t n = 1) noexcept {
    return arrival_token(this->core().arrive(n, 0));
  }
  /// Arrives, and is not expected in later phases.
  void arrive_and_drop() noexcept { this->core().arrive(1, 1); }

  /// Waits until the phase of an arrival is complete. Completion: void(error_code).
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(arrival_token arrival,
                  WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<WaitToken>(token), request{arrival.phase_, false});
  }

  /// Arrives when it is started, and waits until the phase is complete. Completion:
  /// void(error_code).
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_arrive_and_wait(WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<WaitToken>(token), request{0, true});
  }
};

using async_barrier = basic_async_barrier<>;

}  // namespace WEFT_NAMESPACE
