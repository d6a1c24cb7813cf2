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

/// The executor of a pending operation's handler, with work outstanding on it; nothing, if that is
/// the native executor of the very scheduler that completes the operation, which counts as work of
/// it until it has run.
template <class Executor>
class completion_work {
 public:
  completion_work(const Executor& executor, const scheduler& owner) {
    if (native_scheduler(executor) != &owner) [[unlikely]]
      keep(executor);
  }

  /// The executor that the operation is to be given to, or null: the scheduler's thread calls the
  /// handler itself.
  const Executor* elsewhere(const scheduler&) const noexcept {
    return elsewhere_ ? &elsewhere_->executor : nullptr;
  }

 private:
  struct held {
    explicit held(const Executor& ex) : executor(ex), tracker(ex) {}
    Executor executor;
    work_tracker<Executor> tracker;
  };
  [[gnu::noinline]] void keep(const Executor& executor) { elsewhere_.emplace(executor); }

  std::optional<held> elsewhere_;
};

/// Of a polymorphic executor, tracking is a property: one object is both.
template <class Executor>
  requires std::is_base_of_v<any_executor_tag, Executor>
class completion_work<Executor> {
 public:
  completion_work(const Executor& executor, const scheduler& owner) {
    if (native_scheduler(executor) != &owner) [[unlikely]]
      keep(executor);
  }
  const Executor* elsewhere(const scheduler&) const noexcept {
    return elsewhere_ ? &elsewhere_ : nullptr;
  }

 private:
  [[gnu::noinline]] void keep(const Executor& executor) {
    elsewhere_ = prefer(executor, execution::outstanding_work.tracked);
  }

  Executor elsewhere_;
};

template <class Executor>
  requires requires(const Executor& e) {
    { e.native_scheduler() } -> std::same_as<scheduler&>;
  }
class completion_work<Executor> {
 public:
  completion_work(const Executor& executor, const scheduler&) noexcept : executor_(executor) {}
  const Executor* elsewhere(const scheduler& owner) const noexcept {
    return native_scheduler(executor_) == &owner ? nullptr : &executor_;
  }

 private:
  Executor executor_;
};

template <>
WEFT_API void completion_work<any_io_executor>::keep(const any_io_executor& executor);

}  // namespace WEFT_NAMESPACE::detail
