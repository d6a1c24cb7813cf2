// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <mutex>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// A request has so much counted down, when it is started, and then waits.
template <class Policy>
class latch_core final : public queue_core<latch_core<Policy>, Policy, std::size_t> {
  using base = queue_core<latch_core, Policy, std::size_t>;

 public:
  latch_core(execution_context& context, std::size_t count) : base(context), count_(count) {}

  bool enter(std::size_t) noexcept { return count_ == 0; }

  bool try_enter(std::size_t arrivals) noexcept { return arrivals == 0 && base::try_enter(0); }
  /// Those who waited may end the latch as soon as the lock is free.
  bool wait(typename base::operation& op) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    take_arrivals(op.asked(), done);
    return this->enter_or_queue(op);
  }

  void count_down(std::size_t n) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    take_arrivals(n, done);
  }

 private:
  void take_arrivals(std::size_t n, completed_waits& done) noexcept {
    assert(n <= count_ && "a latch is counted down below zero");
    count_ -= n;
    this->serve(done);
  }

  std::size_t count_;
};

}  // namespace detail

/// Counts down to zero, once; who waits goes on then.
///
///     async_latch started(context, 3);
///     // each of three servers: started.count_down();
///     co_await started.async_wait();
///
/// Each wait completes with success when the count is zero, and with error::operation_aborted if it
/// was cancelled before (terminal, partial, total; `cancel`), or the latch was destroyed. What has
/// been counted down stays so.
///
/// Cost: O(1) under a short lock, two atomic read-modify-writes, and none of `sharing::local`; the
/// last `count_down`, O(1) for each wait. Thread safety: all members, any thread, but for the
/// destructor; with `sharing::local`, one thread.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_latch : public detail::wait_object<detail::latch_core<Policy>, Executor> {
  using base = detail::wait_object<detail::latch_core<Policy>, Executor>;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_latch<Policy, Executor1>;
  };

  /// That counts down from `count`. Throws std::bad_alloc.
  basic_async_latch(const Executor& executor, std::size_t count) : base(executor, count) {}
  template <detail::executor_source<Executor> Context>
  basic_async_latch(Context& context, std::size_t count)
      : base(Executor(context.get_executor()), count) {}

  /// Counts down by `n`, which is at most what is left.
  void count_down(std::size_t n = 1) noexcept { this->core().count_down(n); }

  /// Whether the count is zero.
  bool try_wait() const noexcept { return this->core().try_enter(0); }

  /// Waits until the count is zero. Completion: void(error_code).
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<WaitToken>(token), 0);
  }

  /// Counts down by one when it is started, and waits. Completion: void(error_code).
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_arrive_and_wait(WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<WaitToken>(token), 1);
  }
};

using async_latch = basic_async_latch<>;

}  // namespace WEFT_NAMESPACE
