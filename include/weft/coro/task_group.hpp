// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/group_core.hpp>
#include <weft/coro/group_token.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/timer_clock.hpp>

namespace WEFT_NAMESPACE {

/// A group of operations, its children, that end together: coroutines, fibers, callbacks, futures,
/// whatever is started with a completion token. Also known as a nursery.
///
///     awaitable<void> fetch_all(std::vector<std::string> names) {
///       co_await with_task_group([&](task_group& group) -> awaitable<void> {
///         for (const auto& name : names)
///           co_await group.async_spawn(fetch(name));
///       });
///       // All have been fetched; if one has failed, the others were cancelled, and this throws.
///     }
///
/// When a child fails, the others are cancelled, unless the options say otherwise; the join waits
/// for all and reports every failure. A child that ends with operation_aborted after the group has
/// been cancelled has not failed: it has obeyed. Children that are started then are cancelled at
/// once. A child whose handler is destroyed un-called has ended as well.
///
/// Cancellation flows down: who cancels the join cancels the children, and the join of a group that
/// a child has made is what that child waits for. So does the deadline.
///
/// Destroying a group cancels the children that run, and does not wait for them: what they use must
/// outlive them, and not be the group. So join it first, or leave that to with_task_group; pending
/// joins report operation_aborted. When the context of the executor ends, pending joins are
/// destroyed.
///
/// Thread safety: all members but the destructor may be called from any thread. What a child costs:
/// an allocation of recycled memory, two uncontended locks of the group, and its own operation.
class task_group {
 public:
  using executor_type = any_io_executor;

  /// Children are started on `ex` if nothing else is said. Throws std::bad_alloc.
  explicit task_group(const executor_type& ex, const task_group_options& options = {})
      : executor_(ex), core_(std::in_place, detail::executor_context(executor_), options) {}
  template <detail::execution_context_type ExecutionContext>
  explicit task_group(ExecutionContext& context, const task_group_options& options = {})
      : task_group(executor_type(context.get_executor()), options) {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Starts a child as co_spawn does: an awaitable, or a function that returns one, which is kept
  /// until its coroutine has ended. What it returns is dropped. Nothing of it runs inside this
  /// call. Throws what co_spawn throws; nothing is started then.
  template <class Start>
  void spawn(Start&& start, std::source_location where = std::source_location::current()) {
    co_spawn(executor_, std::forward<Start>(start), token(where));
  }
  /// The same on another executor.
  template <class Executor, class Start>
    requires detail::any_style_executor<Executor>
  void spawn(const Executor& ex, Start&& start,
             std::source_location where = std::source_location::current()) {
    co_spawn(ex, std::forward<Start>(start), token(where));
  }

  /// Starts an operation as a child: a deferred one, or any function object that takes a completion
  /// token. Its error, if it has one as its first result, is the child's; other results are
  /// dropped. Throws what starting it throws.
  template <class Operation>
    requires async_operation<Operation>
  void add(Operation&& operation, std::source_location where = std::source_location::current()) {
    std::forward<Operation>(operation)(token(where));
  }

  /// A token for an operation that is to be a child. The group, which must live when the operation
  /// is started, drops the results but for an error.
  group_token<detached_t> token(
      std::source_location where = std::source_location::current()) const noexcept {
    return group_token<detached_t>(detached, *core_, where);
  }

  /// The same for one whose results are wanted: they go where `completion_token` sends them, and
  /// when its handler has returned, the child has ended.
  ///
  ///     auto n = socket.async_read_some(buffer, group.token(use_future));
  ///     socket.async_read_some(buffer, redirect_error(group.token(handler), ec));
  ///
  /// The group hears of an error too, unless an adapter takes it off before, as in the second line.
  /// The operation is cancelled by the slot of `completion_token` and with the group.
  template <class CompletionToken>
    requires(!std::is_same_v<std::decay_t<CompletionToken>, std::source_location>)
  group_token<std::decay_t<CompletionToken>> token(
      CompletionToken&& completion_token,
      std::source_location where = std::source_location::current()) const {
    return group_token<std::decay_t<CompletionToken>>(
        std::forward<CompletionToken>(completion_token), *core_, where);
  }

  /// Waits until fewer than `max_concurrency` of the children that were started so are running, and
  /// starts one, as spawn does. First come, first served.
  ///
  /// Completion: `void(std::exception_ptr)`: null when it has been started; operation_aborted if
  /// the group has been cancelled or the wait was; or what starting it has thrown.
  /// Cancellation (terminal, partial, total): nothing is started. One that has been let in starts.
  template <class Start, completion_token_for<void(std::exception_ptr)> Token =
                             default_completion_token_t<executor_type>>
  auto async_spawn(Start&& start, Token&& completion_token = Token(),
                   std::source_location where = std::source_location::current()) {
    return async_initiate<Token, void(std::exception_ptr)>(
        detail::initiate_group_spawn<std::decay_t<Start>>(*core_, executor_, where,
                                                          std::forward<Start>(start)),
        completion_token);
  }

  /// Waits until no child is running. Then the group is as if newly made: not cancelled, without
  /// errors and deadline.
  ///
  /// Completion: `void(std::exception_ptr)`: null if no child has failed; what the only one that
  /// has failed has thrown or reported; or a group_error with everything. A deadline that has
  /// passed counts as a failure, with timed_out. A join that was cancelled reports
  /// operation_aborted if nothing has failed and a child has obeyed. Cancellation (terminal):
  /// cancels the children with the same request, and goes on waiting.
  template <completion_token_for<void(std::exception_ptr)> Token =
                default_completion_token_t<executor_type>>
  auto async_join(Token&& completion_token = Token()) {
    return async_initiate<Token, void(std::exception_ptr)>(
        detail::initiate_group_join(*core_, executor_), completion_token);
  }

  /// Cancels all children, also those that are started before the next join has completed, and who
  /// waits in async_spawn. Coroutines answer terminal requests, if they do not say otherwise. O(n).
  void cancel(cancellation_type type = cancellation_type::terminal) noexcept {
    core_->cancel_children(type);
  }

  /// Cancels the children that run at that time, with a terminal request, and has the join report
  /// timed_out. It holds until it is set again, or the next join has completed. Throws
  /// std::bad_alloc, or what starting a timer throws.
  void expires_at(std::chrono::steady_clock::time_point deadline,
                  std::source_location where = std::source_location::current()) {
    core_->expires_at(executor_, deadline, where);
  }
  void expires_after(std::chrono::steady_clock::duration timeout,
                     std::source_location where = std::source_location::current()) {
    using clock = std::chrono::steady_clock;
    expires_at(detail::saturated_add(detail::clock_now<clock>(), timeout), where);
  }

  /// How many children are running.
  std::size_t size() const noexcept { return core_->size(); }

  /// Whether the children have been cancelled: by cancel, a failure, or the deadline.
  bool is_cancelled() const noexcept { return core_->is_cancelled(); }

 private:
  executor_type executor_;
  detail::core_handle<detail::group_core> core_;
};

}  // namespace WEFT_NAMESPACE
