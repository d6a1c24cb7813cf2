// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <memory>
#include <optional>

#include <weft/context/io_context.hpp>
#include <weft/context/scheduler_executor.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE::detail {

/// The scheduler behind an executor that does nothing but hand functions to it, or null: a
/// scheduler_executor, or a polymorphic executor that holds one. Such an executor need not be
/// asked when a thread of that scheduler completes an operation: the handler may be called
/// directly.
template <class Executor>
scheduler* native_scheduler(const Executor& executor) noexcept {
  if constexpr (requires {
                  { executor.native_scheduler() } -> std::same_as<scheduler&>;
                }) {
    return &executor.native_scheduler();
  } else if constexpr (requires { executor.template native_target<int>(); }) {
    using allocator = std::allocator<void>;
    if (const auto* e =
            executor.template native_target<scheduler_executor<io_context, allocator, 0>>())
      return &e->native_scheduler();
    if (const auto* e =
            executor.template native_target<scheduler_executor<thread_pool, allocator, 0>>())
      return &e->native_scheduler();
    return nullptr;
  } else {
    return nullptr;
  }
}

/// Keeps work outstanding on the executor of a pending operation. For a native executor nothing
/// need be counted: the operation itself counts as work of its scheduler until it has run.
template <class Executor>
class completion_work {
 public:
  explicit completion_work(const Executor& executor) : executor_(executor) {
    if (!native_scheduler(executor_))
      tracker_.emplace(executor_);
  }
  const Executor& get_executor() const noexcept { return executor_; }

 private:
  Executor executor_;
  std::optional<work_tracker<Executor>> tracker_;
};

/// Of a polymorphic executor, tracking is a property: one object is both.
template <class Executor>
  requires std::is_base_of_v<any_executor_tag, Executor>
class completion_work<Executor> {
 public:
  explicit completion_work(const Executor& executor)
      : executor_(native_scheduler(executor)
                      ? executor
                      : prefer(executor, execution::outstanding_work.tracked)) {}
  const Executor& get_executor() const noexcept { return executor_; }

 private:
  Executor executor_;
};

template <class Executor>
  requires requires(const Executor& e) {
    { e.native_scheduler() } -> std::same_as<scheduler&>;
  }
class completion_work<Executor> {
 public:
  explicit completion_work(const Executor& executor) noexcept : executor_(executor) {}
  const Executor& get_executor() const noexcept { return executor_; }

 private:
  Executor executor_;
};

}  // namespace WEFT_NAMESPACE::detail
