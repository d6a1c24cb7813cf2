// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <utility>

#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/descriptor_handle.hpp>

namespace WEFT_NAMESPACE::detail {

struct handle_access;

/// What descriptors, pipes, serial ports and files have in common: an executor, and a descriptor
/// with its life. Each call has a form that throws system_error and one that sets `ec` (to success
/// too).
///
/// Thread safety: on one object, `cancel`, `close`, `release`, and starting asynchronous operations
/// may be called from several threads at once; opening, moving, assigning to and destroying it may
/// not run beside anything else. Distinct objects are independent.
template <class Executor>
class handle_object {
 public:
  /// The executor of completion handlers that have none of their own.
  using executor_type = Executor;
  /// A file descriptor.
  using native_handle_type = int;

  const executor_type& get_executor() noexcept { return executor_; }

  bool is_open() const noexcept { return handle_.is_open(); }

  /// The descriptor, or -1. It stays the object's.
  native_handle_type native_handle() noexcept { return handle_.native_handle(); }

  /// Takes over an open descriptor. Fails with error::already_open, error::bad_descriptor if it is
  /// none, error::no_memory; the descriptor is then still the caller's.
  void assign(const native_handle_type& native) {
    error_code ec;
    assign(native, ec);
    throw_if(ec, "assign");
  }
  void assign(const native_handle_type& native, error_code& ec) { ec = handle_.assign(native); }

  /// Closes the descriptor; does nothing if it is closed. What is pending completes with
  /// error::operation_aborted, but what a helper thread has begun is waited for and reports what
  /// became of it. When the call returns, the kernel holds no request on the descriptor, which is
  /// gone also if an error is reported.
  void close() {
    error_code ec;
    close(ec);
    throw_if(ec, "close");
  }
  void close(error_code& ec) { ec = handle_.close(); }

  /// As close, but the open descriptor is the caller's. Fails with error::bad_descriptor (and
  /// returns -1) if there is none.
  native_handle_type release() {
    error_code ec;
    const native_handle_type native = release(ec);
    throw_if(ec, "release");
    return native;
  }
  native_handle_type release(error_code& ec) {
    ec.clear();
    return handle_.release(ec);
  }

  /// Cancels all pending operations: they complete with error::operation_aborted, unless their work
  /// is done already or under way on a helper thread; then they report that. Fails with
  /// error::bad_descriptor if closed.
  void cancel() {
    error_code ec;
    cancel(ec);
    throw_if(ec, "cancel");
  }
  void cancel(error_code& ec) { ec = handle_.cancel(); }

 protected:
  /// The queue of operations that are neither reads nor writes (flushing, say).
  static constexpr io_queue status_queue = io_queue::write;

  explicit handle_object(const Executor& ex)
      : executor_(ex), handle_(executor_context(executor_)) {}
  template <class Executor1>
  explicit handle_object(handle_object<Executor1>&& other)
      : executor_(other.executor_), handle_(std::move(other.handle_)) {}
  /// What is pending goes on undisturbed; `other` is left closed, with its executor.
  handle_object(handle_object&& other) noexcept
      : executor_(other.executor_), handle_(std::move(other.handle_)) {}
  /// Closes this object first.
  handle_object& operator=(handle_object&& other) {
    handle_ = std::move(other.handle_);
    executor_ = other.executor_;
    return *this;
  }
  ~handle_object() = default;

 private:
  template <class>
  friend class handle_object;
  friend handle_access;

  Executor executor_;
  descriptor_handle handle_;
};

/// Reaches the handle of an object, for operations that are not its members.
struct handle_access {
  template <class Executor>
  static descriptor_handle& get(handle_object<Executor>& object) noexcept {
    return object.handle_;
  }
  template <class Executor>
  static const descriptor_handle& get(const handle_object<Executor>& object) noexcept {
    return object.handle_;
  }
  template <class Object>
  static constexpr io_queue status_queue = Object::status_queue;
};

}  // namespace WEFT_NAMESPACE::detail
