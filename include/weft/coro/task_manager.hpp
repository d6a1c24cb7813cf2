// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/async_result.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/awaited_result.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/manager_core.hpp>
#include <weft/coro/task_info.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/io/timer_clock.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// A task with the result that it has when it is done.
template <class T>
class task_result : public managed_task {
 public:
  template <class V>
  void store(V&& value) {
    value_.emplace(std::forward<V>(value));
  }
  const T& value() const noexcept {
    assert(value_ && "a task is asked for its value when it is done: see task_handle::async_get");
    return *value_;
  }

  /// A copy; or, if there can be none, the result itself, once.
  T take() {
    if constexpr (std::is_copy_constructible_v<T>) {
      return *value_;
    } else {
      if (!core().take(*this))
        throw_error(error::not_found, "task_handle::async_get");
      return std::move(*value_);
    }
  }

 protected:
  using managed_task::managed_task;
  ~task_result() override = default;

 private:
  std::optional<T> value_;
};

template <>
class task_result<void> : public managed_task {
 protected:
  using managed_task::managed_task;
};

/// The handler of what a task does, which completes with `Signature`.
template <class Signature>
class task_handler {
  using results = awaited_results_t<Signature>;
  using T = typename results::type;

 public:
  explicit task_handler(task_result<T>& task) noexcept : task_(&task) {
    task.core().has_handler(task);
  }
  task_handler(task_handler&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  task_handler& operator=(task_handler&&) = delete;
  ~task_handler() {
    if (task_)
      task_->core().drop(*task_);
  }

  using cancellation_slot_type = cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return task_ ? task_->signal().slot() : cancellation_slot();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    task_result<T>& task = *std::exchange(task_, nullptr);
    std::exception_ptr error;
    try {
      results r;
      r.set(std::forward<Args>(args)...);
      if constexpr (std::is_void_v<T>)
        r.get();
      else
        task.store(r.get());
    } catch (...) {
      error = std::current_exception();
    }
    task.core().end(task, std::move(error));
  }

 private:
  task_result<T>* task_;
};

/// What a task may be made of: how it is started on `Executor`, and what it results in.
template <class Start, class Executor>
struct task_start;

template <class Start, class Executor>
  requires spawnable<Start, Executor>
struct task_start<Start, Executor> {
  using value = typename Start::value_type;
  using signature = typename spawn_signature<value>::type;
  using type = Start;
};

template <class Start, class Executor>
  requires spawnable_function<Start, Executor>
struct task_start<Start, Executor> {
  using value = typename std::invoke_result_t<Start>::value_type;
  using signature = typename spawn_signature<value>::type;
  using type = Start;
};

template <class Start, class Executor>
  requires(is_async_operation_v<Start>)
struct task_start<Start, Executor> {
  using signature = completion_signature_of_t<Start>;
  using value = typename awaited_results_t<signature>::type;
  using type = Start;
};

template <class Start, class Executor>
  requires std::is_invocable_v<Start> && (!spawnable_function<Start, Executor>) &&
           (!is_async_operation_v<Start>)
struct task_start<Start, Executor> {
  using value = std::decay_t<std::invoke_result_t<Start>>;
  using signature = typename spawn_signature<value>::type;

  /// Has a plain function called by a coroutine.
  struct type {
    Start function;
    awaitable<value, Executor> operator()() { co_return std::move(function)(); }
  };
};

template <class Start, class Executor>
concept task_source = requires { typename task_start<Start, Executor>::type; };

template <class Start, class Executor>
class started_task final : public task_result<typename task_start<Start, Executor>::value> {
  using value = typename task_start<Start, Executor>::value;
  using start_type = typename task_start<Start, Executor>::type;
  using handler = task_handler<typename task_start<Start, Executor>::signature>;

 public:
  template <class S>
  started_task(manager_core& core, const task_options& options, const std::source_location& where,
               const Executor& executor, S&& start)
      : task_result<value>(core, options, where), executor_(executor) {
    if constexpr (std::is_same_v<start_type, Start>)
      start_.emplace(std::forward<S>(start));
    else
      start_.emplace(start_type{std::forward<S>(start)});
  }

 private:
  void begin() override {
    start_type start(*std::move(start_));
    start_.reset();
    if constexpr (is_async_operation_v<Start>)
      std::move(start)(handler(*this));
    else
      co_spawn(executor_, std::move(start), handler(*this));
  }
  void discard() noexcept override { start_.reset(); }

  [[no_unique_address]] Executor executor_;
  std::optional<start_type> start_;
};

/// Waits for one task, and gives its result.
template <class T>
class initiate_task_get : public manager_initiation {
 public:
  class operation_type : public manager_wait {
   public:
    operation_type(function f, scheduler& owner, initiate_task_get&& initiation) noexcept
        : manager_wait(f, owner, initiation.core(), initiation.task_.release()) {}

    auto take_results() noexcept {
      std::exception_ptr error;
      if (is_granted()) {
        core().forget(task()->id());
        error = task()->error();
      } else {
        error = exception_of(error::operation_aborted);
      }
      if constexpr (std::is_void_v<T>) {
        return operation_results<std::exception_ptr>{std::move(error)};
      } else {
        if (!error) {
          try {
            return operation_results<std::exception_ptr, T>{
                nullptr, static_cast<task_result<T>*>(task())->take()};
          } catch (...) {
            error = std::current_exception();
          }
        }
        return operation_results<std::exception_ptr, T>{std::move(error), T()};
      }
    }
  };

  explicit initiate_task_get(task_reference task) noexcept
      : manager_initiation(task.get()->core()), task_(std::move(task)) {}

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  task_reference task_;
};

}  // namespace detail

/// A task of a task_manager, and its result of type `T`. Copies name the same task. It may outlive
/// the manager, not the context. But for `operator bool`, a handle that was made by default is only
/// assigned to.
///
/// Thread safety: distinct objects may be used on any threads.
template <class T>
class task_handle {
 public:
  using value_type = T;

  task_handle() = default;

  task_id id() const noexcept { return task().id(); }
  operator task_id() const noexcept { return id(); }
  explicit operator bool() const noexcept { return task_.get() != nullptr; }

  task_state state() const noexcept { return core().state(task()); }
  task_info info() const { return core().describe(task()); }

  /// As task_manager::kill.
  bool kill() const noexcept { return core().kill(task()); }

  /// Waits until the task has ended. Completion: `void(error_code, task_state)`: success, whatever
  /// came of the task; or operation_aborted, if the wait was cancelled or the manager has ended.
  /// Cancellation (terminal, partial, total): ends the wait, not the task.
  template <completion_token_for<void(error_code, task_state)> Token = deferred_t>
  auto async_wait(Token&& token = Token()) const {
    return async_initiate<Token, void(error_code, task_state)>(
        detail::initiate_task_wait(core(), task_), token);
  }

  /// Waits until the task has ended, and takes what came of it: the manager forgets it. Completion:
  /// `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` if T is void: null and the
  /// result, or the error and `T()`: timed_out or operation_aborted, as system_error, of one that
  /// was. A result that can be copied can be taken often; another one once, and not if it was given
  /// on by task_manager::then: otherwise the error is not_found. Cancellation: as async_wait.
  template <completion_token_for<typename detail::spawn_signature<T>::type> Token = deferred_t>
  auto async_get(Token&& token = Token()) const {
    task();
    return async_initiate<Token, typename detail::spawn_signature<T>::type>(
        detail::initiate_task_get<T>(task_), token);
  }

  /// The result. Requires that the task is done, and that the result was not moved by async_get.
  std::add_lvalue_reference_t<const T> value() const noexcept
    requires(!std::is_void_v<T>)
  {
    return static_cast<const detail::task_result<T>&>(task()).value();
  }

 private:
  friend class task_manager;

  explicit task_handle(detail::task_reference task) noexcept : task_(std::move(task)) {}
  detail::managed_task& task() const noexcept {
    assert(task_.get() && "a task_handle names no task before one that was started is assigned");
    return *task_.get();
  }
  detail::manager_core& core() const noexcept { return task().core(); }

  detail::task_reference task_;
};

/// Starts tasks, knows them by numbers, and tells what became of them.
///
///     task_manager tasks(context, {.max_running = 8});
///     auto source = tasks.start(fetch(url), {.timeout = 5s});
///     auto parsed = tasks.then(source, [](const std::string& text) { return parse(text); });
///     tasks.start(report(), {.after = {parsed}, .after_failure = true});
///     const tree t = co_await parsed.async_get();
///
/// A task is a coroutine, a function, or an operation of any kind. It may wait for others to end
/// first: so tasks form a graph without cycles. One whose predecessor fails, or is cancelled, is
/// cancelled, unless its options say otherwise. A task can have a deadline, wherever it is on its
/// way; all of them share one timer.
///
/// What came of a task is kept until it is taken or forgotten, or more recent ones take its place:
/// see task_manager_options. Errors are the results of tasks that have failed, and no more: a group
/// of tasks that end together is a task_group.
///
/// Destroying a manager kills its tasks: those that have not begun are cancelled, those that run
/// are cancelled and not waited for: what they use must outlive them. Pending waits report
/// operation_aborted; when the context ends they are destroyed.
///
/// Thread safety: all members but the destructor may be called from any thread. Finding a task is
/// O(1); starting and ending one is so, beside O(log n) for one that has a deadline, and its edges.
class task_manager {
 public:
  using executor_type = any_io_executor;

  /// Tasks are started on `ex` if nothing else is said. Throws std::bad_alloc, or what starting the
  /// I/O driver of the context throws.
  explicit task_manager(const executor_type& ex, const task_manager_options& options = {})
      : core_(std::in_place, ex, options) {}
  template <detail::execution_context_type ExecutionContext>
  explicit task_manager(ExecutionContext& context, const task_manager_options& options = {})
      : task_manager(executor_type(context.get_executor()), options) {}
  task_manager(const task_manager&) = delete;
  task_manager& operator=(const task_manager&) = delete;
  ~task_manager() = default;

  const executor_type& get_executor() const noexcept { return core_->get_executor(); }

  /// Starts a task: an awaitable; a function that returns one, or a value; or an operation that is
  /// deferred, or any function object that takes a completion token. Functions are called in the
  /// executor, and kept until the task has ended; operations are started by the thread that calls
  /// this, or that ends the last of what the task has waited for. The result is that of a co_await
  /// of it.
  ///
  /// Throws std::bad_alloc, what moving `start` throws, not_found (as system_error) if a task that
  /// it is to come after is unknown. If starting the operation throws, the task has failed.
  template <class Start>
    requires detail::task_source<std::decay_t<Start>, executor_type>
  auto start(Start&& start, const task_options& options = {},
             std::source_location where = std::source_location::current()) {
    return start_on(get_executor(), std::forward<Start>(start), options, where);
  }
  /// The same on another executor.
  template <class Executor, class Start>
    requires detail::any_style_executor<Executor> &&
             detail::task_source<std::decay_t<Start>, Executor>
  auto start(const Executor& ex, Start&& start, const task_options& options = {},
             std::source_location where = std::source_location::current()) {
    return start_on(ex, std::forward<Start>(start), options, where);
  }

  /// Starts a task that calls `f` with the result of another one of this manager, as `const T&`,
  /// when that is done; so `options.after_failure` must not be set. Throws besides, as
  /// system_error, not_found if the result can only be moved, and async_get has taken it.
  template <class T, class F>
  auto then(const task_handle<T>& first, F&& f, const task_options& options = {},
            std::source_location where = std::source_location::current()) {
    if constexpr (std::is_void_v<T>) {
      return start_on(get_executor(), std::forward<F>(f), options, where, &first.task());
    } else {
      assert(!options.after_failure &&
             "a task that failed has no result to call the function with");
      if constexpr (!std::is_copy_constructible_v<T>)
        if (!core_->share(first.task()))
          detail::throw_error(error::not_found, "task_manager::then");
      auto call = [first, function = std::decay_t<F>(std::forward<F>(f))]() mutable {
        return std::move(function)(first.value());
      };
      return start_on(get_executor(), std::move(call), options, where, &first.task());
    }
  }
  /// The same without the result.
  template <class F>
  auto then(task_id first, F&& f, task_options options = {},
            std::source_location where = std::source_location::current()) {
    options.after.push_back(first);
    return start(std::forward<F>(f), options, where);
  }

  /// Has `task`, which has not begun, wait for `predecessor` too. Throws task_cycle if that waits
  /// for `task`; as system_error, not_found or already_started; std::bad_alloc. O(edges).
  void depends_on(task_id task, task_id predecessor) { core_->depend(task, predecessor); }

  /// Lets a task begin that is held (task_options), once its predecessors have ended. False if
  /// there is none.
  bool release(task_id task) { return core_->release_held(task); }

  /// Cancels a task: at once if it has not begun, otherwise by a terminal request, whatever it
  /// makes of that. It is `cancelled` if it ends with operation_aborted. False if it is unknown or
  /// has ended.
  bool kill(task_id task) noexcept {
    const detail::task_reference found(core_->find(task));
    return found.get() && core_->kill(*found.get());
  }
  /// All of them.
  void cancel() noexcept { core_->kill_all(); }

  /// When all tasks are timed out that have not ended, and those started later at once. It holds
  /// until it is set again. Throws std::bad_alloc.
  void expires_at(std::chrono::steady_clock::time_point deadline) {
    core_->expires_at(
        detail::saturated_nanoseconds<detail::rounding::up>(deadline.time_since_epoch()));
  }
  void expires_after(std::chrono::steady_clock::duration timeout) {
    using clock = std::chrono::steady_clock;
    expires_at(detail::saturated_add(detail::clock_now<clock>(), timeout));
  }

  /// What is known of a task. Throws std::bad_alloc.
  std::optional<task_info> find(task_id task) const {
    const detail::task_reference found(core_->find(task));
    if (!found.get())
      return std::nullopt;
    return core_->describe(*found.get());
  }
  /// The same of all, by their numbers. O(n log n).
  std::vector<task_info> tasks() const { return core_->describe_all(); }
  task_counts counts() const noexcept { return core_->counts(); }

  /// Drops the result of a task. False if it is unknown or has not ended.
  bool forget(task_id task) noexcept { return core_->forget(task); }

  /// As task_handle::async_wait; the error is not_found if the task is unknown.
  template <completion_token_for<void(error_code, task_state)> Token =
                default_completion_token_t<executor_type>>
  auto async_wait(task_id task, Token&& token = Token()) {
    return async_initiate<Token, void(error_code, task_state)>(
        detail::initiate_task_wait(*core_, detail::task_reference(core_->find(task))), token);
  }

  /// Waits until no task is unfinished. Completion: `void(error_code)`: success, whatever came of
  /// the tasks; or operation_aborted. Cancellation: ends the wait, not the tasks.
  template <
      completion_token_for<void(error_code)> Token = default_completion_token_t<executor_type>>
  auto async_join(Token&& token = Token()) {
    return async_initiate<Token, void(error_code)>(detail::initiate_manager_join(*core_), token);
  }

 private:
  template <class Executor, class Start>
  auto start_on(const Executor& executor, Start&& start, const task_options& options,
                const std::source_location& where, detail::managed_task* first = nullptr) {
    using task = detail::started_task<std::decay_t<Start>, Executor>;
    using value = typename detail::task_start<std::decay_t<Start>, Executor>::value;
    auto* const started = new task(*core_, options, where, executor, std::forward<Start>(start));
    started->retain();
    detail::task_reference reference(started);
    core_->start(*started, options, first);
    return task_handle<value>(std::move(reference));
  }

  detail::core_handle<detail::manager_core> core_;
};

}  // namespace WEFT_NAMESPACE
