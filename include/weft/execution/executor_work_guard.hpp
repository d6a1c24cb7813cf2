// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/work_tracker.hpp>

namespace WEFT_NAMESPACE {

/// Keeps work outstanding on an executor, so that its context does not run out of it while the
/// guard lives: `io_context::run()` does not return. Distinct guards may be used from any threads.
///
///     auto guard = weft::make_work_guard(io);
///     std::thread worker([&] { io.run(); });
///     ...
///     guard.reset();  // run() returns once all is done
template <class Executor>
class executor_work_guard {
 public:
  using executor_type = Executor;

  explicit executor_work_guard(const executor_type& ex) noexcept : executor_(ex), work_(ex) {}
  executor_work_guard(const executor_work_guard&) noexcept = default;
  /// The other guard owns no work any more.
  executor_work_guard(executor_work_guard&&) noexcept = default;
  executor_work_guard& operator=(const executor_work_guard&) = delete;

  executor_type get_executor() const noexcept { return executor_; }
  bool owns_work() const noexcept { return work_.owns_work(); }
  /// The work is no longer outstanding. Calling it again does nothing.
  void reset() noexcept { work_.reset(); }

 private:
  Executor executor_;
  detail::work_tracker<Executor> work_;
};

/// A guard for an executor, of either style.
template <detail::any_style_executor Executor>
executor_work_guard<Executor> make_work_guard(const Executor& ex) {
  return executor_work_guard<Executor>(ex);
}

/// A guard for a context's executor.
template <detail::execution_context_type ExecutionContext>
executor_work_guard<typename ExecutionContext::executor_type> make_work_guard(
    ExecutionContext& context) {
  return executor_work_guard<typename ExecutionContext::executor_type>(context.get_executor());
}

}  // namespace WEFT_NAMESPACE
