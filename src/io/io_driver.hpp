// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <weft/base/error.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/io_operation.hpp>
#include <weft/io/timer_core.hpp>

#include "context/scheduler/driver.hpp"
#include "context/scheduler/scheduler.hpp"
#include "io/backend/backend.hpp"
#include "io/backend/blocking_pool.hpp"
#include "io/backend/poll_set.hpp"
#include "io/io_object.hpp"
#include "io/stream_buffer_pool.hpp"
#include "io/timer_service.hpp"

namespace WEFT_NAMESPACE::detail {

class stream_source;

/// A context's I/O: the objects and their queues, the backend that carries operations to the
/// kernel, the helper threads for what blocks, and the timers.
///
/// The rules of design.md that hold on every backend are kept here, once: operations of a queue go
/// one at a time and in order; a cancelled one that nobody has begun ends at once; a closed object
/// has nothing in the kernel.
///
/// Lock order: object, then mutex_, held_mutex_ or that of the buffers, then the backend's, then
/// the scheduler's. Two objects are never locked together.
class io_driver final : public execution_context::service, public driver, public io_driver_base {
 public:
  explicit io_driver(execution_context& context);
  ~io_driver();

  /// Has the scheduler poll this driver. Threads that make the service at the same time construct
  /// several, of which one is kept: so the constructor must not do it.
  void serve() noexcept {
    if (!serves_.load(std::memory_order_acquire)) {
      scheduler_.set_driver(this);
      serves_.store(true, std::memory_order_release);
    }
  }

  timer_service& timers() noexcept { return timers_; }
  backend_kind kind() const noexcept { return backend_->kind(); }
  /// The object of operations that belong to no descriptor.
  io_object& anonymous() noexcept { return anonymous_; }
  /// A closed object, of handles that have none yet.
  io_object& never_open() noexcept { return never_open_; }

  // ---- objects

  /// A closed object, or null if memory is short.
  io_object* make_object() noexcept;
  /// Gives back a closed object.
  void recycle(io_object* object) noexcept;
  error_code open(io_object& object, int fd, bool pollable) noexcept;
  /// Cancels everything, waits until the kernel has let go; the descriptor is the caller's, or -1.
  int release(io_object& object) noexcept;

  // ---- operations

  static void attach(io_object& object, io_operation* op) noexcept { op->object_ = &object; }
  static bool is_attached(const io_operation* op) noexcept { return op->object_ != nullptr; }
  /// Starts an attached operation.
  void start(io_operation* op) noexcept;
  /// The same, but one that finishes at once is the caller's: true.
  bool start_or_finish(io_operation* op) noexcept;
  void cancel(io_object& object) noexcept;
  static void cancel_operation(io_operation* op, bool unless_begun) noexcept;

  /// A descriptor has been closed: what waits for one may try again. Any thread.
  void descriptor_closed() noexcept;

  // ---- streams

  /// Whether the kernel takes bytes and connections ahead for a stream; bytes go to buffers().
  bool takes_ahead() const noexcept { return backend_->takes_ahead(); }
  bool serve_buffers() noexcept { return buffers_->serve(*backend_); }
  stream_buffer_pool& buffers() noexcept { return *buffers_; }

  /// Cancels the operations that wait for an item.
  void cancel(stream_source& source) noexcept;
  /// Returns when the kernel takes nothing more for the source; cancels the operations left.
  void stop(stream_source& source) noexcept;

  // ---- registered buffers

  /// As their namesakes in detail.
  const void* register_buffers(const mutable_buffer* buffers, std::size_t count) noexcept {
    return backend_->register_buffers(buffers, count);
  }
  void unregister_buffers(const void* scope) noexcept { backend_->unregister_buffers(scope); }

  /// Descriptors that the kernel knows by more than their number.
  registered_descriptors descriptors() const noexcept { return backend_->descriptors(); }

  /// Calls `f(operation)` for each that is pending, with its object locked: it must be short. Those
  /// of all objects are not seen at one instant. O(objects and operations). Throws std::bad_alloc.
  template <class F>
  void for_each_pending(F f) {
    for (io_object* object : all_objects()) {
      const object_lock lock(object->mutex);
      for (const io_operation_list& list : object->lists)
        for (const io_operation* op = list.front(); op; op = io_operation_list::after(op))
          f(*op);
    }
  }

  /// An operation was transferred by what the kernel knows of its buffer.
  static void count_fixed(io_operation& op) noexcept {
    op.object_->driver->fixed_transfers_.fetch_add(1, std::memory_order_relaxed);
  }
  /// How many were.
  std::uint64_t fixed_transfers() const noexcept {
    return fixed_transfers_.load(std::memory_order_relaxed);
  }

  // ---- what the backends call

  /// Tries the operations of a queue that has become ready. Object locked.
  void perform(io_object& object, io_queue queue, operation_queue& ready) noexcept;
  /// The kernel has answered an operation it had.
  void answered(io_operation* op, io_answer answer, operation_queue& ready) noexcept;

  /// Whether the last read of the operation's descriptor has found nothing, or has left nothing.
  /// Object locked.
  static bool has_emptied(const io_operation& op) noexcept { return op.object_->emptied; }

  /// The number of a send without copying on the operation's descriptor: how many came before it.
  /// Object locked.
  static std::uint32_t count_zero_copy(io_operation& op) noexcept {
    return op.object_->zero_copy_sends++;
  }

  // ---- driver

  bool poll(std::int64_t timeout, operation_queue& ready) noexcept override;
  void wake() noexcept override { backend_->wake(); }
  void arm() noexcept override;
  void disarm() noexcept override;
  bool quiet() const noexcept override;

  /// As io_context::poll_descriptor.
  int poll_descriptor();

  /// In nanoseconds: how long an operation that makes a descriptor waits after the one before found
  /// none left, if none is closed meanwhile; and how often it is seen to while it waits. The latter
  /// is also how often an operation is tried that no readiness tells of (io_status::later).
  static constexpr std::int64_t shortage_pause = 50'000'000;
  static constexpr std::int64_t shortage_tick = 10'000'000;

 private:
  using object_lock = std::lock_guard<word_mutex>;

  std::vector<io_object*> all_objects();
  void shutdown() override;
  void notify_fork(execution_context::fork_event event) override;
  void performed(operation_queue& results, operation_queue& ready) noexcept;
  void await_helpers(io_object& object) noexcept;

  int release(io_object& object, operation_queue& ready) noexcept;
  void perform_front(io_object& object, io_queue queue, operation_queue& ready) noexcept;
  bool add_block() noexcept;
  template <class F>
  void for_each_object(F f);
  void complete(operation_queue& ready, io_operation* to_pool) noexcept;
  void refuse(io_object& object, io_operation* to_pool, operation_queue& ready) noexcept;
  io_status begin(io_object& object, io_operation* op) noexcept;
  void enqueue(io_object& object, io_operation* op, io_status status) noexcept;
  void enqueue_elsewhere(io_object& object, io_operation* op, submitted_to where) noexcept;
  void note_shared() noexcept;
  static void forget_sources(io_object& object) noexcept;
  void begin_again(io_object& object, operation_queue& ready) noexcept;
  bool try_now(io_object& object, io_operation* op) const noexcept;
  bool try_special(io_object& object, io_operation* op) const noexcept;
  io_status attempt(io_object& object, io_operation* op) noexcept;
  void note_attempt(io_object& object, io_operation& op, io_status status) noexcept;
  io_operation* submit_from(io_operation_list& list, io_object& object,
                            operation_queue& ready) noexcept;
  io_operation* submit_front(io_object& object, io_queue queue, operation_queue& ready) noexcept;
  submitted_to hand_over(io_object& object, io_operation* op) noexcept;
  io_operation* submit(io_object& object, io_operation* op, operation_queue& ready) noexcept;
  io_operation* submit_elsewhere(io_object& object, io_operation* op, submitted_to where,
                                 operation_queue& ready) noexcept;
  io_operation* finish(io_object& object, io_operation* op, operation_queue& ready) noexcept;
  io_operation* begin_next(io_object& object, io_queue queue, operation_queue& ready) noexcept;
  void answered_specially(io_operation* op, io_answer answer, operation_queue& ready) noexcept;
  static void note_answer(io_object& object, io_queue queue, io_status status) noexcept;
  void go_on(io_object& object, io_operation* op, io_status status,
             operation_queue& ready) noexcept;
  void go_on_with_next(io_object& object, io_queue queue, operation_queue& ready) noexcept;
  static void remove(io_operation_list& list, io_operation* op, operation_queue& ready) noexcept;
  bool withdraws(io_object& object, io_operation* op, bool unless_begun) noexcept;
  io_operation* withdraw(io_object& object, io_operation* op, operation_queue& ready,
                         bool unless_begun = false) noexcept;
  template <class Predicate>
  void withdraw_from(io_object& object, io_queue queue, operation_queue& ready,
                     Predicate which) noexcept;
  void withdraw_all(io_object& object, operation_queue& ready) noexcept;

  bool supplied(io_object& object, io_operation* consumer) noexcept;
  void fed(stream_source& source, io_answer answer, operation_queue& ready) noexcept;
  void withdraw_consumers(stream_source& source, operation_queue& ready) noexcept;

  void note_shortage(io_object& object, const io_operation& op) noexcept;
  bool hold_back(io_object& object, const io_operation& op) noexcept {
    return (op.later_ || (!op.kind().plain && op.kind().makes_descriptor)) && must_wait(object, op);
  }
  bool must_wait(io_object& object, const io_operation& op) noexcept;
  void try_later(io_object& object) noexcept;
  void add_held(io_object& object) noexcept;
  void end_held(operation_queue& ready) noexcept;

  std::int64_t prepare_wait() noexcept;

  timer_service timers_;
  blocking_pool pool_;
  stream_buffer_pool::owner buffers_;  // outlives the backend: the kernel knows its memory
  std::unique_ptr<backend> backend_;
  io_object anonymous_;
  io_object never_open_;

  std::mutex mutex_;
  // Guarded by mutex_.
  io_object_block* blocks_ = nullptr;
  io_object* spare_ = nullptr;  // objects that are not handed out

  // Made once under mutex_, before the scheduler arms and disarms it.
  std::optional<poll_set> poll_set_;

  std::atomic<unsigned> open_objects_{0};
  // Objects whose operations are held back. Who adds one and then looks at closes_, and who counts
  // a close and then looks at held_: one of them sees the other (sequentially consistent), and
  // wakes the poller.
  std::mutex held_mutex_;
  io_object* held_list_ = nullptr;  // guarded by held_mutex_
  std::atomic<bool> held_{false};   // whether the list is not empty; written under held_mutex_
  std::atomic<unsigned> closes_{0};
  std::atomic<std::uint64_t> fixed_transfers_{0};

  // Set after set_driver (release); who sees it (acquire) finds the scheduler polling.
  std::atomic<bool> serves_{false};
};

}  // namespace WEFT_NAMESPACE::detail
