// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <limits>
#include <mutex>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Policy>
class semaphore_core final : public queue_core<semaphore_core<Policy>, Policy, std::size_t> {
  using base = queue_core<semaphore_core, Policy, std::size_t>;

 public:
  semaphore_core(execution_context& context, std::size_t count) : base(context), count_(count) {}

  bool enter(std::size_t n) noexcept {
    if (n > count_)
      return false;
    count_ -= n;
    return true;
  }

  void release_units(std::size_t n) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    assert(n <= std::numeric_limits<std::size_t>::max() - count_ &&
           "more units are released than a semaphore counts");
    count_ += n;
    this->serve(done);
  }

  void give_back(std::size_t n) noexcept { release_units(n); }

  std::size_t count() noexcept {
    const std::lock_guard lock(*this);
    return count_;
  }

 private:
  std::size_t count_;
};

}  // namespace detail

/// A number of units that are acquired, waited for if there are too few, and released.
///
///     async_semaphore slots(context, 10);    // ten requests at a time
///     co_await slots.async_acquire();
///     co_await request();
///     slots.release();
///
/// Units are granted in the order of asking, also to those who ask for different numbers: who waits
/// for many is not overtaken by who wants one. The number of units is bounded by std::size_t alone;
/// any thread may release, also what it has not acquired.
///
/// Each wait completes with success when all its units have been granted to it, together; and with
/// error::operation_aborted if it was cancelled before (terminal, partial, total; `cancel`), or the
/// semaphore was destroyed: it has no units then. A cancellation that comes after the grant changes
/// nothing.
///
/// Cost: O(1) under a short lock, two atomic read-modify-writes, and none of `sharing::local`;
/// `release`, O(1) for each that it grants. Thread safety: all members, any thread, but for the
/// destructor; with `sharing::local`, one thread.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_semaphore : public detail::wait_object<detail::semaphore_core<Policy>, Executor> {
  using base = detail::wait_object<detail::semaphore_core<Policy>, Executor>;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_semaphore<Policy, Executor1>;
  };

  /// With `count` units. Throws std::bad_alloc.
  basic_async_semaphore(const Executor& executor, std::size_t count) : base(executor, count) {}
  template <detail::executor_source<Executor> Context>
  basic_async_semaphore(Context& context, std::size_t count)
      : base(Executor(context.get_executor()), count) {}

  /// Takes `n` units if they are there and nobody waits.
  bool try_acquire(std::size_t n = 1) noexcept { return this->core().try_enter(n); }

  /// Adds `n` units, and grants what can be granted.
  void release(std::size_t n = 1) noexcept { this->core().release_units(n); }

  /// How many units nobody has. Another thread may change it at any time.
  std::size_t available() const noexcept { return this->core().count(); }

  /// Takes `n` units, or one. Completion: void(error_code).
  template <
      completion_token_for<void(error_code)> AcquireToken = default_completion_token_t<Executor>>
  auto async_acquire(std::size_t n, AcquireToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<AcquireToken>(token), n);
  }
  template <
      completion_token_for<void(error_code)> AcquireToken = default_completion_token_t<Executor>>
    requires(!std::convertible_to<AcquireToken, std::size_t>)
  auto async_acquire(AcquireToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<AcquireToken>(token), 1);
  }
};

using async_semaphore = basic_async_semaphore<>;

}  // namespace WEFT_NAMESPACE
