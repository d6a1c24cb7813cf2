// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <mutex>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

enum class lock_mode : unsigned char { exclusive, shared };

template <class Policy>
class shared_mutex_core final
    : public queue_core<shared_mutex_core<Policy>, Policy, detail::lock_mode> {
  using base = queue_core<shared_mutex_core, Policy, detail::lock_mode>;

 public:
  explicit shared_mutex_core(execution_context& context) : base(context) {}

  bool enter(lock_mode mode) noexcept {
    if (is_exclusive_ || (mode == lock_mode::exclusive && sharers_ != 0))
      return false;
    if (mode == lock_mode::exclusive)
      is_exclusive_ = true;
    else
      ++sharers_;
    return true;
  }

  void leave_exclusive() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    assert(is_exclusive_ && "a mutex is unlocked that nobody has locked");
    is_exclusive_ = false;
    this->serve(done);
  }

  void leave_shared() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    assert(sharers_ != 0 && "a mutex is unlocked that nobody shares");
    if (--sharers_ == 0)
      this->serve(done);
  }

  void give_back(lock_mode mode) noexcept {
    if (mode == lock_mode::exclusive)
      leave_exclusive();
    else
      leave_shared();
  }

 private:
  std::size_t sharers_ = 0;
  bool is_exclusive_ = false;
};

}  // namespace detail

/// A mutex that either one has alone or several share: writers and readers.
///
///     async_shared_mutex mutex(context);
///     auto reading = co_await mutex.async_scoped_lock_shared();
///
/// It is granted in the order of asking, and to all readers that stand next to each other at once.
/// So neither readers nor writers starve: a reader waits for the writer that asked before it, also
/// while others still read. Who shares it must not wait for it again before giving it back.
///
/// Completion, cancellation and thread safety are async_mutex's. Cost: each operation is O(1) under
/// a short lock, two atomic read-modify-writes, and none of `sharing::local`; one that grants,
/// O(1) for each.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_shared_mutex
    : public detail::wait_object<detail::shared_mutex_core<Policy>, Executor> {
  using core_type = detail::shared_mutex_core<Policy>;
  using base = detail::wait_object<core_type, Executor>;
  using mode = detail::lock_mode;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_shared_mutex<Policy, Executor1>;
  };

  /// Own the mutex alone, or a share of it, and give it back at their end.
  using scoped_lock = detail::core_lock<core_type, &core_type::leave_exclusive>;
  using shared_lock = detail::core_lock<core_type, &core_type::leave_shared>;

  /// A free mutex. Throws std::bad_alloc.
  explicit basic_async_shared_mutex(const Executor& executor) : base(executor) {}
  template <detail::executor_source<Executor> Context>
  explicit basic_async_shared_mutex(Context& context) : base(Executor(context.get_executor())) {}

  /// Locks it alone if it is free.
  bool try_lock() noexcept { return this->core().try_enter(mode::exclusive); }
  /// Shares it if nobody has it alone, or waits for it.
  bool try_lock_shared() noexcept { return this->core().try_enter(mode::shared); }

  void unlock() noexcept { this->core().leave_exclusive(); }
  void unlock_shared() noexcept { this->core().leave_shared(); }

  /// Locks it alone. Completion: void(error_code).
  template <completion_token_for<void(error_code)> LockToken = default_completion_token_t<Executor>>
  auto async_lock(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<LockToken>(token), mode::exclusive);
  }
  /// Shares it. Completion: void(error_code).
  template <completion_token_for<void(error_code)> LockToken = default_completion_token_t<Executor>>
  auto async_lock_shared(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<LockToken>(token), mode::shared);
  }

  /// The same, for objects that give it back. Completion: void(error_code, scoped_lock) and
  /// void(error_code, shared_lock), which own nothing after an error.
  template <completion_token_for<void(error_code, scoped_lock)> LockToken =
                default_completion_token_t<Executor>>
  auto async_scoped_lock(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<detail::lock_request<core_type, scoped_lock>>(
        std::forward<LockToken>(token), mode::exclusive);
  }
  template <completion_token_for<void(error_code, shared_lock)> LockToken =
                default_completion_token_t<Executor>>
  auto async_scoped_lock_shared(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<detail::lock_request<core_type, shared_lock>>(
        std::forward<LockToken>(token), mode::shared);
  }
};

using async_shared_mutex = basic_async_shared_mutex<>;

}  // namespace WEFT_NAMESPACE
