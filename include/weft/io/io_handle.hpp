// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/async/cancellation_type.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// The I/O driver of a context: its backend and its timers; made, as a service, on first use.
WEFT_API io_driver& use_io_driver(execution_context& context);
WEFT_API scheduler& driver_scheduler(io_driver& driver) noexcept;

/// What a driver is to those who start operations often.
class io_driver_base {
 public:
  /// The scheduler whose threads complete the operations.
  scheduler& owner() const noexcept { return scheduler_; }

 protected:
  explicit io_driver_base(scheduler& owner) noexcept : scheduler_(owner) {}
  ~io_driver_base() = default;

  scheduler& scheduler_;
};

/// Cancels one operation: what has not begun ends with operation_aborted; what the kernel has is
/// asked back and reports what became of it. With `unless_begun`, a whole transfer (io_kind::whole)
/// that has transferred some of its bytes goes on. Any thread.
WEFT_API void cancel_io_operation(io_operation* op, bool unless_begun) noexcept;

/// What a descriptor can do without being told each time it would block.
enum class io_readiness : bool {
  pollable,        ///< sockets, pipes, terminals, eventfds
  always_blocking  ///< regular files: never "not ready"; they just block
};

/// Owns a native descriptor and its registration with a driver: the part of a socket, pipe,
/// file or other descriptor object that is neither template nor protocol.
///
/// Thread safety: `start`, `cancel`, `close` and `release` may be called from several threads at
/// once. Moving, assigning and destroying may not. A handle outlives its context's shutdown safely:
/// it is closed then.
class WEFT_API io_handle {
 public:
  explicit io_handle(execution_context& context);
  io_handle(io_handle&& other) noexcept
      : driver_(other.driver_), object_(std::exchange(other.object_, nullptr)) {}
  io_handle& operator=(io_handle&& other) noexcept;
  ~io_handle();

  io_driver& driver() const noexcept;
  scheduler& owner() const noexcept { return driver_->owner(); }

  bool is_open() const noexcept { return native_handle() >= 0; }
  int native_handle() const noexcept;

  /// Takes what memory `assign` needs, which then cannot fail for want of it. Throws
  /// std::bad_alloc.
  void reserve();

  /// Takes over an open descriptor. Fails with error::already_open, or no_memory. On failure the
  /// descriptor is still the caller's.
  error_code assign(int fd, io_readiness readiness = io_readiness::pollable) noexcept;

  /// Ties an operation to the descriptor, so that it can be cancelled before it is started.
  void attach(io_operation* op) noexcept;

  /// Starts an operation, which the handle then owns. It completes exactly once, never inside this
  /// call: with bad_descriptor if the handle is closed. O(1).
  void start(io_operation* op) noexcept;

  /// The same, but an operation that finishes at once is given back: true, and the caller
  /// completes it.
  bool start_or_finish(io_operation* op) noexcept;

  /// Cancels all operations. Returns false if the handle is closed.
  bool cancel() noexcept;

  /// Cancels all operations and closes the descriptor. When it returns, the kernel holds no
  /// request on it. The descriptor is gone even if an error is returned. A closed handle: success.
  error_code close() noexcept;

  /// The same, but hands the open descriptor to the caller. -1 and bad_descriptor if closed.
  int release(error_code& ec) noexcept;

  /// The driver's note: a fork has given the descriptor to another process too, whose operations
  /// need the modes of the open file description as they are.
  static constexpr unsigned shared = 1U << 31;

  /// Takes over the descriptor of `from`, which may be of another context, with its notes, and
  /// leaves it closed; cancels what is pending there. Fails with already_open, bad_descriptor
  /// (`from` is closed) or no_memory; then nothing has happened, unless another thread is still at
  /// closing this handle: then the descriptor is closed, too.
  error_code take(io_handle& from) noexcept;

  // Per-descriptor notes of the owner, kept with the descriptor (modes, protocol state).
  unsigned flags() const noexcept;
  void set_flag(unsigned flag, bool on) noexcept;

 private:
  io_driver_base* driver_;
  io_object* object_ = nullptr;
};

/// Answers a cancellation slot for an I/O operation.
class io_canceller {
 public:
  explicit io_canceller(io_operation* op) noexcept : op_(op) {}
  void operator()(cancellation_type_t type) const noexcept {
    constexpr auto at_any_time = cancellation_type::terminal | cancellation_type::partial;
    const bool unless_begun = !(type & at_any_time);
    if (!unless_begun || !!(type & cancellation_type::total))
      cancel_io_operation(op_, unless_begun);
  }

 private:
  io_operation* op_;
};

/// A handler as an object of its own: an rvalue as it is, anything else as a copy.
template <class Handler, class Start>
void with_handler(Handler&& handler, Start start) {
  if constexpr (std::is_same_v<Handler, std::decay_t<Handler>>) {
    start(handler);
  } else {
    std::decay_t<Handler> copy(handler);
    start(copy);
  }
}

/// The outcome of a transfer of no bytes: bad_descriptor if the object is closed.
WEFT_API const error_code& empty_transfer(bool is_open) noexcept;

/// Starts `Base` on `io` for `handler`: `void (results of Base...)` is called as the handler's
/// associations ask. `args` construct Base after (function, scheduler). If the outcome is known
/// already, it is all that is reported, as of an operation that finished at once; else it is null.
template <class Base, class Handler, class IoExecutor, class... Args>
void start_io_unless(const error_code* outcome, io_handle& io, Handler& handler,
                     const IoExecutor& executor, Args&&... args) {
  using op_type = handler_operation<Base, Handler, IoExecutor>;
  auto op = op_type::create(handler, executor, io.owner(), std::forward<Args>(args)...);
  if (outcome) [[unlikely]] {
    op->ec = *outcome;
    if constexpr (has_immediate_executor<Handler, IoExecutor>)
      op_type::complete_immediately(op.release(), executor);
    else
      scheduler_post(io.owner(), op.release());
    return;
  }
  if (op->is_cancellable()) {
    io.attach(op.get());
    op->template connect<io_canceller>(op.get());
  }
  if constexpr (has_immediate_executor<Handler, IoExecutor>) {
    op_type* raw = op.release();
    if (io.start_or_finish(raw))
      op_type::complete_immediately(raw, executor);
  } else {
    io.start(op.release());
  }
}

template <class Base, class Handler, class IoExecutor, class... Args>
void start_io(io_handle& io, Handler& handler, const IoExecutor& executor, Args&&... args) {
  start_io_unless<Base>(nullptr, io, handler, executor, std::forward<Args>(args)...);
}

/// Ties to the driver, and then starts, an operation that belongs to no descriptor (opening a file,
/// say).
WEFT_API void attach_driver_operation(io_driver& driver, io_operation* op) noexcept;
WEFT_API void start_driver_operation(io_driver& driver, io_operation* op) noexcept;

template <class Base, class Handler, class IoExecutor, class... Args>
void start_io(io_driver& driver, Handler& handler, const IoExecutor& executor, Args&&... args) {
  using op_type = handler_operation<Base, Handler, IoExecutor>;
  auto op =
      op_type::create(handler, executor, driver_scheduler(driver), std::forward<Args>(args)...);
  attach_driver_operation(driver, op.get());
  op->template connect<io_canceller>(op.get());
  start_driver_operation(driver, op.release());
}

}  // namespace WEFT_NAMESPACE::detail
