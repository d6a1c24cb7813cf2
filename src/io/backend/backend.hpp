// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <weft/context/backend_kind.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/io_operation.hpp>

#include "context/scheduler/scheduler.hpp"
#include "io/io_object.hpp"

namespace WEFT_NAMESPACE::detail {

class buffer_ring;

/// What a backend did with an operation it was given.
enum class submitted_to : std::uint8_t {
  waiting,  ///< It stays queued; the backend will try it when the descriptor is ready.
  kernel,   ///< The kernel has it.
  pool,     ///< It blocks: a helper thread is to perform it.
  failed    ///< It failed; the result is stored.
};

/// What a backend has done about registered descriptors.
struct registered_descriptors {
  unsigned count = 0;          ///< There are so many.
  std::uint64_t requests = 0;  ///< So many requests have named one.
};

/// How a driver talks to the kernel: one class per mechanism. The driver keeps the queues, states
/// and promises; a backend only carries.
class backend {
 public:
  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  virtual backend_kind kind() const noexcept = 0;

  /// An object begins to serve a descriptor. Object locked.
  virtual void attach(io_object& object) noexcept = 0;

  /// Brings the first operation of a queue (or any of `concurrent`) on its way. Object locked.
  virtual submitted_to submit(io_object& object, io_operation* op) noexcept = 0;

  /// Asks the kernel to give back an operation it has; its completion follows. False: it could not
  /// be asked now. Object locked.
  virtual bool withdraw(io_operation* op) noexcept = 0;

  /// Called after every operation of a closing object (or `only` one of an object) was withdrawn,
  /// object unlocked: returns when the kernel has none of them any more. What it reaps meanwhile
  /// goes to the scheduler.
  virtual void settle(io_object& object, const io_operation* only) noexcept = 0;

  /// The object's descriptor is about to be closed or released; no operation is left. Object
  /// locked.
  virtual void detach(io_object& object) noexcept = 0;

  /// Whether what is submitted goes to the kernel with much else, so that a system call for one
  /// operation is the dearer way.
  bool batches() const noexcept { return batches_.load(std::memory_order_relaxed); }

  /// Whether a stream_source can be submitted.
  virtual bool takes_ahead() const noexcept { return false; }
  /// Lets the kernel take buffers from the ring. False: it will not.
  virtual bool provide_buffers(buffer_ring&) noexcept { return false; }

  /// As detail::register_buffers and detail::unregister_buffers. Any thread.
  virtual const void* register_buffers(const mutable_buffer*, std::size_t) noexcept {
    return nullptr;
  }
  virtual void unregister_buffers(const void*) noexcept {}
  /// Whether an operation on the buffer is best submitted to the kernel, which knows it.
  virtual bool knows(const registered_transfer&) const noexcept { return false; }

  virtual registered_descriptors descriptors() const noexcept { return {}; }

  /// As driver::poll and driver::wake.
  virtual void poll(std::int64_t timeout, operation_queue& ready) noexcept = 0;
  virtual void wake() noexcept = 0;

  /// Whether the last poll has left something to the next, which then does not sleep.
  bool has_more() const noexcept { return more_.load(std::memory_order_relaxed); }

  /// Hands to the kernel what would go with the next poll. By the thread that polls.
  virtual void flush() noexcept {}
  /// A descriptor that is readable while a poll would find something, and after `wake`. Asked for
  /// once, and after each restart; throws system_error.
  virtual int native_handle() = 0;

  /// In the child of a fork: makes new kernel objects. The driver attaches and submits anew.
  virtual void restart() = 0;

 protected:
  std::atomic<bool> batches_{false};
  std::atomic<bool> more_{false};
};

std::unique_ptr<backend> make_epoll_backend(io_driver& driver);
std::unique_ptr<backend> make_uring_backend(io_driver& driver, const scheduler_options& options);

}  // namespace WEFT_NAMESPACE::detail
