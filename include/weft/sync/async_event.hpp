// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

/// What becomes of an event that somebody has waited for.
enum class event_reset : unsigned char {
  manual,    ///< it stays set, for all, until it is reset
  automatic  ///< it is reset by the one that it lets go on
};

namespace detail {

template <class Policy>
class event_core final : public queue_core<event_core<Policy>, Policy, no_request> {
  using base = queue_core<event_core, Policy, no_request>;

 public:
  event_core(execution_context& context, event_reset reset, bool is_set)
      : base(context), is_automatic_(reset == event_reset::automatic), is_set_(is_set) {}

  bool enter(no_request) noexcept {
    const bool is_let = is_set_;
    if (is_automatic_)
      is_set_ = false;
    return is_let;
  }

  void set() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    is_set_ = true;
    this->serve(done);
  }
  void reset() noexcept {
    const std::lock_guard lock(*this);
    is_set_ = false;
  }
  void give_back(no_request) noexcept {
    if (is_automatic_)
      set();
  }
  bool is_set() noexcept {
    const std::lock_guard lock(*this);
    return is_set_;
  }

 private:
  const bool is_automatic_;
  bool is_set_;
};

}  // namespace detail

/// A flag that can be waited for.
///
///     async_event ready(context);
///     ready.async_wait([](error_code ec) { /* somebody has called ready.set() */ });
///
/// With event_reset::automatic each `set` lets one wait complete: the one that has waited longest,
/// or the next that comes. Setting an event that is set does nothing: sets are not counted.
///
/// Each wait completes with success when the event lets it go on, though the event may have been
/// reset by the time the handler is called; and with error::operation_aborted if it was cancelled
/// before (terminal, partial, total; `cancel`), or the event was destroyed. A cancellation that
/// comes after it was let go on changes nothing.
///
/// Cost: O(1) under a short lock, two atomic read-modify-writes, and none of `sharing::local`;
/// `set`, O(1) for each wait that it ends. Thread safety: all members, any thread, but for the
/// destructor; with `sharing::local`, one thread.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_event : public detail::wait_object<detail::event_core<Policy>, Executor> {
  using base = detail::wait_object<detail::event_core<Policy>, Executor>;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_event<Policy, Executor1>;
  };

  /// Throws std::bad_alloc.
  explicit basic_async_event(const Executor& executor, event_reset reset = event_reset::manual,
                             bool is_set = false)
      : base(executor, reset, is_set) {}
  template <detail::executor_source<Executor> Context>
  explicit basic_async_event(Context& context, event_reset reset = event_reset::manual,
                             bool is_set = false)
      : base(Executor(context.get_executor()), reset, is_set) {}

  /// Sets it: all that wait complete, or with event_reset::automatic one.
  void set() noexcept { this->core().set(); }
  void reset() noexcept { this->core().reset(); }
  /// Another thread may change it at any time.
  bool is_set() const noexcept { return this->core().is_set(); }

  /// Waits until it is set. Completion: void(error_code).
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<WaitToken>(token));
  }
};

using async_event = basic_async_event<>;

}  // namespace WEFT_NAMESPACE
