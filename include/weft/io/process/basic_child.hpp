// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/async_result.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/process/child_state.hpp>

namespace WEFT_NAMESPACE::process {

/// A child process.
///
///     readable_pipe output(context);
///     process::child ls = process::spawn(context, "ls", {"-l"}, {.out = output});
///     ls.async_wait([](error_code ec, process::exit_status status) { ... });
///
/// The child is known by its pidfd (Linux 5.4): no signal handler is installed, SIGCHLD stays the
/// program's, and a signal can never reach another process that got the same id. The status is
/// kept: it may be waited for any number of times. If somebody else reaps the child (a wait(2) for
/// any child, SIGCHLD ignored or with SA_NOCLDWAIT), its status is lost, and waits fail with
/// ECHILD.
///
/// **Destruction** kills the child (SIGKILL) if it still runs, and reaps it: no zombie and no stray
/// process is left. `detach` it before to let it run on.
///
/// Thread safety: `async_wait`, `wait`, `running`, `send_signal`, `terminate`, `kill` and `cancel`
/// may be called from several threads at once; not so spawning, moving, detaching and destroying.
template <class Executor = any_io_executor>
class basic_child {
 public:
  using executor_type = Executor;
  /// A pidfd.
  using native_handle_type = int;

  /// The same type with another executor.
  template <class Executor1>
  struct rebind_executor {
    using other = basic_child<Executor1>;
  };

  /// No child.
  explicit basic_child(const executor_type& ex)
      : executor_(ex), state_(detail::executor_context(executor_)) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_child(ExecutionContext& context)
      : basic_child(executor_type(context.get_executor())) {}

  /// Takes over the child; `other` is left without one.
  basic_child(basic_child&& other) noexcept
      : executor_(other.executor_), state_(std::move(other.state_)) {}
  /// Ends this object's child first, as its destructor does.
  basic_child& operator=(basic_child&& other) noexcept {
    state_ = std::move(other.state_);
    executor_ = other.executor_;
    return *this;
  }
  ~basic_child() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Whether there is a child, running or ended.
  bool is_open() const noexcept { return state_.is_open(); }
  /// Its process id, or -1.
  int id() const noexcept { return state_.id(); }
  /// Its pidfd, or -1. It stays the object's.
  native_handle_type native_handle() const noexcept { return state_.handle().native_handle(); }

  /// Starts `program` with `arguments` (not counting the program's name, which is argument 0). A
  /// name without a slash is looked for in the PATH of the parent.
  ///
  /// Blocks until the child has begun to execute the program. So what prevents that is reported:
  /// the errors of execve(2), chdir(2) and open(2), among them ENOENT, access_denied, no_memory,
  /// no_descriptors; already_open if there is a child, or a pipe in `options` is open. Then no
  /// process is left, and the pipes are as they were.
  ///
  /// In the child, signals that had handlers have their default action, the others are as in the
  /// parent; the signal mask is the calling thread's. Of the library's descriptors none is open,
  /// but those that `options` name.
  void spawn(const std::string& program, const std::vector<std::string>& arguments = {},
             const spawn_options& options = {}) {
    detail::throw_if(state_.spawn(program, arguments, options), "spawn");
  }
  void spawn(const std::string& program, const std::vector<std::string>& arguments,
             const spawn_options& options, error_code& ec) {
    ec = state_.spawn(program, arguments, options);
  }

  /// Whether the child has not ended yet. Errors: bad_descriptor if there is none; ECHILD.
  bool running() {
    error_code ec;
    const bool result = running(ec);
    detail::throw_if(ec, "running");
    return result;
  }
  bool running(error_code& ec) { return state_.is_running(ec); }

  /// Blocks until the child has ended, and says how. Errors: bad_descriptor if there is none;
  /// ECHILD if somebody else has reaped it.
  exit_status wait() {
    error_code ec;
    const exit_status status = wait(ec);
    detail::throw_if(ec, "wait");
    return status;
  }
  exit_status wait(error_code& ec) { return state_.wait(ec); }

  /// Waits until the child has ended.
  ///
  /// Completion: `void (error_code, exit_status)`. Errors: as wait, and error::operation_aborted if
  /// it was cancelled; the child runs on then. Cancellation: by `cancel`; by its slot (terminal,
  /// partial, total). Nothing is lost.
  template <completion_token_for<void(error_code, exit_status)> WaitToken =
                default_completion_token_t<executor_type>>
  auto async_wait(WaitToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WaitToken, void(error_code, exit_status)>(initiate_async_wait(this),
                                                                    token);
  }

  /// Cancels all asynchronous waits. The child is not touched.
  void cancel() noexcept { state_.handle().cancel(); }

  /// Sends a signal to the child. Does nothing if it has ended. Errors: bad_descriptor if there is
  /// none; invalid_argument, no_permission.
  void send_signal(int signal_number) {
    detail::throw_if(state_.send_signal(signal_number), "send_signal");
  }
  void send_signal(int signal_number, error_code& ec) { ec = state_.send_signal(signal_number); }

  /// Asks the child to end: SIGTERM.
  void terminate() { detail::throw_if(state_.send_signal(terminate_signal), "terminate"); }
  void terminate(error_code& ec) { ec = state_.send_signal(terminate_signal); }

  /// Ends it: SIGKILL. It is still to be waited for.
  void kill() { detail::throw_if(state_.send_signal(kill_signal), "kill"); }
  void kill(error_code& ec) { ec = state_.send_signal(kill_signal); }

  /// Lets go of the child, which runs on; waits are cancelled. Once it has ended it is a zombie,
  /// until the program reaps it by its id, or ends itself.
  void detach() noexcept { state_.detach(); }

 private:
  class initiate_async_wait {
   public:
    using executor_type = Executor;

    explicit initiate_async_wait(basic_child* self) noexcept : self_(self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

    template <completion_handler_for<void(error_code, exit_status)> Handler>
    void operator()(Handler&& handler) const {
      std::decay_t<Handler> target(std::forward<Handler>(handler));
      detail::start_io<detail::exit_operation>(self_->state_.handle(), target, self_->executor_,
                                               self_->state_.record());
    }

   private:
    basic_child* self_;
  };

  static constexpr int kill_signal = 9;
  static constexpr int terminate_signal = 15;

  Executor executor_;
  detail::child_state state_;
};

/// A child process with the polymorphic executor.
using child = basic_child<>;

}  // namespace WEFT_NAMESPACE::process
