// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/sync/channel_error.hpp>
#include <weft/sync/publishing_core.hpp>
#include <weft/sync/shared_value.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

template <class T, class Policy>
class watch_core;

template <class T, class Policy>
class watch_wait : public publishing_wait<watch_core<T, Policy>> {
  using core_type = watch_core<T, Policy>;

 public:
  template <class Initiation>
  watch_wait(operation::function f, scheduler& owner, Initiation&& initiation,
             select_claim* claim = nullptr) noexcept
      : publishing_wait<core_type>(f, owner, initiation.core(), claim), known(initiation.known()) {}

  bool start() noexcept { return this->core().start(*this); }
  operation_results<error_code, std::uint64_t> take_results() const noexcept {
    if (!this->is_granted())
      return {error::operation_aborted, known};
    return {to_error_code(this->outcome), version};
  }

  /// As a case of a select.
  std::optional<std::uint64_t> result() const noexcept {
    return version != known ? std::optional(version) : std::nullopt;
  }

  const std::uint64_t known;
  std::uint64_t version = known;
};

/// The latest value and its version; and who waits for another one.
template <class T, class Policy>
class watch_core final
    : public publishing_core<watch_core<T, Policy>, watch_wait<T, Policy>, Policy> {
  using wait = watch_wait<T, Policy>;
  using base = publishing_core<watch_core, wait, Policy>;
  using base::is_closed_;
  friend base;

 public:
  watch_core(execution_context& context, T&& value) : base(context), value_(std::move(value)) {}

  bool set(T&& value) {
    shared_value<T> next(std::move(value));
    completed_waits done;
    const std::lock_guard lock(*this);
    if (is_closed_)
      return false;
    std::swap(value_, next);  // what was there goes when the lock has gone
    ++version_;
    this->take_each([&](wait& op) {
      receive(op);
      done.grant(op);
    });
    return true;
  }

  shared_value<T> get(std::uint64_t& version) noexcept {
    const std::lock_guard lock(*this);
    version = version_;
    return value_;
  }

 private:
  bool receive(wait& op) noexcept {
    if (op.known == version_ && !is_closed_)
      return false;
    op.version = version_;
    if (op.known == version_)
      op.outcome = channel_outcome::closed;
    return true;
  }

  shared_value<T> value_;
  std::uint64_t version_ = 1;
};

}  // namespace detail

/// A value that changes, and those who want to know when: they see the latest one, and may miss
/// those between.
///
///     watch<config> current(context, load());
///     auto version = current.version();
///     for (;;) {
///       version = co_await current.async_changed(version);
///       apply(current.get());
///     }
///
/// Versions count up from 1, by one with each value. Whose copying may throw, or which is long, a
/// value is kept by a shared pointer.
///
/// Destroyed, it completes what waits with error::operation_aborted.
///
/// Thread safety: with sharing::concurrent, all members, any thread, while it lives. `set` and
/// `close` are O(waits), the others O(1).
template <class T, class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_watch {
  static_assert(std::copy_constructible<T>, "who looks at a watch gets a copy of the value");
  using core_type = detail::watch_core<T, Policy>;

 public:
  using executor_type = Executor;
  using value_type = T;

  /// Throws std::bad_alloc, or what moving the value throws.
  basic_watch(const executor_type& ex, T value)
      : executor_(ex),
        core_(std::in_place, detail::executor_context(executor_), std::move(value)) {}
  template <detail::execution_context_type ExecutionContext>
  basic_watch(ExecutionContext& context, T value)
      : basic_watch(executor_type(context.get_executor()), std::move(value)) {}
  basic_watch(const basic_watch&) = delete;
  basic_watch& operator=(const basic_watch&) = delete;
  ~basic_watch() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Replaces the value. False if it has been closed. Throws what storing the value throws.
  bool set(T value) { return core_->set(std::move(value)); }

  /// A copy of the latest value. Throws what copying it throws.
  T get() const {
    std::uint64_t version;
    return core_->get(version).get();
  }
  /// The same, with its version.
  std::pair<T, std::uint64_t> get_with_version() const {
    std::uint64_t version;
    const auto value = core_->get(version);
    return {value.get(), version};
  }
  std::uint64_t version() const noexcept {
    std::uint64_t version;
    core_->get(version);
    return version;
  }

  /// There are no more values from now on.
  void close() noexcept { core_->end(); }

  /// Aborts all waits. Any thread.
  void cancel() noexcept { core_->cancel(); }

  /// Waits until there is another version than `known`.
  ///
  /// Completion: `void(error_code, std::uint64_t)`: success, with the version that there is;
  /// error::channel_closed, if there will be no other; error::operation_aborted.
  /// Cancellation: `cancel`, and the slot (terminal, partial, total). Nothing is lost.
  /// Throws what the allocation, or moving the handler, throws. Any thread. O(1).
  template <completion_token_for<void(error_code, std::uint64_t)> Token =
                default_completion_token_t<Executor>>
  auto async_changed(std::uint64_t known, Token&& token = default_completion_token_t<Executor>()) {
    return async_initiate<Token, void(error_code, std::uint64_t)>(initiate(*this, known), token);
  }

 private:
  friend struct detail::publishing_access;

  class initiate {
   public:
    using executor_type = Executor;
    using operation_type = detail::watch_wait<T, Policy>;

    initiate(basic_watch& self, std::uint64_t known) noexcept : self_(&self), known_(known) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }
    detail::scheduler& owner() const noexcept { return core().owner(); }
    core_type& core() const noexcept { return *self_->core_; }
    std::uint64_t known() const noexcept { return known_; }

    template <completion_handler_for<void(error_code, std::uint64_t)> Handler>
    void operator()(Handler&& handler) {
      detail::initiate_directly(std::move(*this), std::forward<Handler>(handler));
    }

   private:
    basic_watch* self_;
    std::uint64_t known_;
  };

  Executor executor_;
  detail::core_handle<core_type> core_;
};

/// A watch on any executor.
template <class T, class Policy = sharing::concurrent>
using watch = basic_watch<T, Policy, any_io_executor>;

}  // namespace WEFT_NAMESPACE
