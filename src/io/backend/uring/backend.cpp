// SPDX-License-Identifier: BSL-1.0
#include "io/backend/backend.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include <weft/execution/config.hpp>

#include "io/backend/native_descriptor.hpp"
#include "io/backend/probe.hpp"
#include "io/backend/uring/buffer_ring.hpp"
#include "io/backend/uring/fixed_buffers.hpp"
#include "io/backend/uring/fixed_files.hpp"
#include "io/backend/uring/ring.hpp"
#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE::detail {

/// io_uring(7), one ring per context, which any thread may enter.
///
/// **Submission.** An operation becomes an entry of the submission queue under `submit_mutex_`. If
/// the thread is the only one that runs the context, the entry goes to the kernel with its next
/// poll, many at once; otherwise at once, because the poller may already sleep.
///
/// **Completion.** Whoever polls reaps, under `reap_mutex_`, never while it sleeps; so does a
/// thread that waits for a closing object. The rings are set up without deferred or cooperative
/// task work, for then completions of one thread's submissions would wait until that thread enters
/// the kernel, however long its handler runs. Only a context that promised to stay on one thread
/// gets a ring with SINGLE_ISSUER and DEFER_TASKRUN (Linux 6.1).
///
/// **Waking** is an eventfd with a multishot poll on it. The kernel cancels what a thread has
/// submitted when that thread exits; the poll is then armed anew, and operations are resubmitted by
/// the driver (io_driver::answered).
///
/// Lock order: object, then submit_mutex_. reap_mutex_ is taken before an object's lock, and never
/// while one is held.
class uring_backend final : public backend {
 public:
  static constexpr unsigned submission_entries = 256;
  static constexpr unsigned completion_entries = 4096;

  /// So many completions in one poll, and what is submitted next is worth collecting.
  static constexpr unsigned batch = 16;

  /// A descriptor's request of this number is the first that names it by an entry in the ring's
  /// table: to make and to empty one costs what some seventy requests gain.
  static constexpr unsigned registered_after = 64;

  uring_backend(io_driver& driver, bool single_thread)
      : driver_(driver), single_thread_(single_thread) {
    // Only its own thread may change the table of a ring of one issuer, but an object may be closed
    // on any.
    if (!single_thread && fixed_files::usable())
      registered_after_ =
          config(driver.context()).get("backend", "registered_after", registered_after);
    restart();
  }

  backend_kind kind() const noexcept override { return backend_kind::uring; }

  void attach(io_object& object) noexcept override {
    std::fill(std::begin(object.ready), std::end(object.ready), false);
    object.is_ready(io_queue::write) = true;
    object.emptied = false;
    object.registered = fixed_files::none;
    object.until_registered = registered_after_;
  }

  submitted_to submit(io_object& object, io_operation* op) noexcept override {
    const io_kind& kind = op->kind();
    if (!kind.prepare && kind.blocking)
      return submitted_to::pool;
    object.is_ready(io_queue::write) = true;  // the write after this one is tried first again
    const std::lock_guard lock(submit_mutex_);
    io_uring_sqe* const sqe = entry();
    if (!sqe) [[unlikely]] {
      op->fail(EBUSY);
      return submitted_to::failed;
    }
    if (kind.prepare) [[likely]] {
      if (!kind.plain && kind.registered) {
        registered_transfer& buffer = kind.registered(*op);
        buffer.fixed = knows(buffer);
      }
      kind.prepare(*op, *sqe);
    } else {
      op->polled_ = true;
      sqe->opcode = IORING_OP_POLL_ADD;
      sqe->fd = op->fd;
      sqe->poll32_events = events_of(op->queue());
    }
    if (object.until_registered != 0) [[unlikely]]
      approach_entry(object, *op, *sqe);
    if (object.registered != fixed_files::none)
      name_entry(object, *op, *sqe);
    sqe->user_data = reinterpret_cast<std::uint64_t>(op);
    note_submission();
    flush_unless_alone();
    return submitted_to::kernel;
  }

  bool withdraw(io_operation* op) noexcept override {
    const std::lock_guard lock(submit_mutex_);
    io_uring_sqe* sqe = entry();
    if (!sqe)
      return false;
    sqe->opcode = IORING_OP_ASYNC_CANCEL;
    sqe->fd = -1;
    sqe->addr = reinterpret_cast<std::uint64_t>(op);
    sqe->user_data = ignored;
    flush_unless_alone();
    return true;
  }

  void settle(io_object& object, const io_operation* only) noexcept override {
    enable();
    for (bool first = true;; first = false) {
      {
        const std::lock_guard lock(object.mutex);
        if (only ? only->state_ != io_operation::state::submitted
                 : object.submitted.load(std::memory_order_relaxed) == 0)
          break;
        if (!first)  // the queue may have been full
          withdraw_again(object, only);
      }
      // Another thread may reap what is waited for: look again soon.
      enter(1, 1'000'000);
      operation_queue ready;
      if (reap(ready))
        wake();  // that was for the poller
      driver_.owner().complete(ready);
    }
  }

  void detach(io_object& object) noexcept override {
    const int entry = std::exchange(object.registered, fixed_files::none);
    if (entry != fixed_files::none)
      fixed_files_.remove(*ring_, entry);
  }

  registered_descriptors descriptors() const noexcept override {
    return {fixed_files_.size(), named_entries_.load(std::memory_order_relaxed)};
  }

  bool takes_ahead() const noexcept override { return true; }

  bool provide_buffers(buffer_ring& buffers) noexcept override {
    return ring_->provide(buffers.memory(), buffer_ring::entries, buffer_ring::group);
  }

  const void* register_buffers(const mutable_buffer* buffers, std::size_t count) noexcept override {
    return fixed_buffers_.add(*ring_, buffers, count);
  }
  void unregister_buffers(const void* scope) noexcept override {
    fixed_buffers_.remove(*ring_, scope);
  }
  bool knows(const registered_transfer& buffer) const noexcept override {
    return !buffer.refused && fixed_buffers_.contain(buffer);
  }

  void poll(std::int64_t timeout, operation_queue& ready) noexcept override {
    enable();
    if (notified_.get() >= 0)
      clear(notified_);
    if (!wake_armed_) {
      const std::lock_guard lock(submit_mutex_);
      arm_wake();
    }
    if (completions_ready())
      timeout = 0;
    enter(timeout == 0 ? 0 : 1, timeout);
    reap(ready);
    batches_.store(reaped_.load(std::memory_order_relaxed) >= batch && driver_.owner().alone(),
                   std::memory_order_relaxed);
  }

  void wake() noexcept override { add_one(wake_); }

  void flush() noexcept override {
    if (notified_.get() >= 0 && ring_->notify(notified_.get()) < 0)
      add_one(notified_);
    enter(0, 0);
  }

  // Deferred task work wakes nobody who waits on the ring's descriptor, but it is told to an
  // eventfd; if it comes from writing to another eventfd, only once for each registration
  // (Linux 6.18). Therefore flush, which then does that work, registers anew.
  int native_handle() override {
    if (!deferred_)
      return ring_->native_handle();
    notified_ = native_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    if (const int error = ring_->notify(notified_.get()); error < 0)
      throw_error(errno_code(-error), "io_uring_register");
    return notified_.get();
  }

  void restart() override {
    constexpr unsigned single = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    ring_.reset();
    notified_ = {};
    deferred_ = false;
    fixed_buffers_.forget();
    fixed_files_.forget();
    wake_ = native_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    if (single_thread_) {
      try {
        ring_.emplace(submission_entries, completion_entries, single | IORING_SETUP_R_DISABLED);
        enabled_ = false;
        deferred_ = true;
      } catch (const system_error&) {
        // Before Linux 6.1.
      }
    }
    if (!ring_) {
      ring_.emplace(submission_entries, completion_entries, 0u);
      enabled_ = true;
    }
    const std::lock_guard lock(submit_mutex_);
    arm_wake();
  }

 private:
  // What user_data is when it is no operation.
  static constexpr std::uint64_t ignored = 0;
  static constexpr std::uint64_t woken = 1;

  static std::uint32_t events_of(io_queue queue) noexcept {
    switch (queue) {
      case io_queue::write: return POLLOUT;
      // Out-of-band data of TCP does not wake a poll for POLLPRI alone (Linux 6.18).
      case io_queue::except: return POLLPRI | POLLRDBAND;
      default: return POLLIN | POLLRDHUP;
    }
  }

  static void add_one(const native_descriptor& counter) noexcept {
    const std::uint64_t one = 1;
    while (::write(counter.get(), &one, sizeof one) < 0 && errno == EINTR) {}
  }
  static void clear(const native_descriptor& counter) noexcept {
    std::uint64_t count;
    while (::read(counter.get(), &count, sizeof count) < 0 && errno == EINTR) {}
  }

  // A ring of one issuer belongs to the thread that first runs the context.
  void enable() noexcept {
    if (!enabled_) {
      enabled_ = true;
      ring_->enable();
    }
  }

  bool completions_ready() noexcept {
    const std::lock_guard lock(reap_mutex_);
    return ring_->ready();
  }

  void withdraw_again(io_object& object, const io_operation* only) noexcept {
    for (const io_operation_list& list : object.lists)
      for (io_operation* op = list.front(); op; op = io_operation_list::after(op))
        if (op->state_ == io_operation::state::submitted && !op->pooled_ && (!only || op == only))
          withdraw(op);
  }

  io_uring_sqe* entry() noexcept {
    io_uring_sqe* const sqe = ring_->next_entry();
    return sqe ? sqe : entry_after_submission();
  }

  [[gnu::noinline]] io_uring_sqe* entry_after_submission() noexcept {
    enable();
    ring_->enter(ring_->publish(), 0, 0);
    return ring_->next_entry();
  }

  /// Whether the request may name the descriptor's entry. A pause names no descriptor; and statx(2)
  /// is refused an entry.
  static bool takes_entry(const io_operation& op, const io_uring_sqe& sqe) noexcept {
    return sqe.fd == op.fd && sqe.opcode != IORING_OP_STATX;
  }

  /// Makes the descriptor's entry when it is time for it.
  [[gnu::noinline]] void approach_entry(io_object& object, const io_operation& op,
                                        const io_uring_sqe& sqe) noexcept {
    if (op.fd >= 0 && takes_entry(op, sqe) && --object.until_registered == 0)
      object.registered = fixed_files_.add(*ring_, op.fd);
  }

  /// Has the request name the descriptor's entry.
  void name_entry(const io_object& object, const io_operation& op, io_uring_sqe& sqe) noexcept {
    if (!takes_entry(op, sqe))
      return;
    sqe.fd = object.registered;
    sqe.flags |= IOSQE_FIXED_FILE;
    named_entries_.store(named_entries_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  }

  // The kernel orders a submission before the reaping of its answer; this says so to what does not
  // see the kernel (ThreadSanitizer): the store (release), under submit_mutex_, pairs with the load
  // (acquire) of whoever has seen the answer.
  void note_submission() noexcept {
    submissions_.store(submissions_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  void flush_unless_alone() noexcept {
    if (!driver_.owner().alone()) [[unlikely]]
      flush_entries();
  }

  [[gnu::noinline]] void flush_entries() noexcept {
    if (single_thread_)
      wake();  // no other thread may enter the ring
    else
      ring_->enter(ring_->publish(), 0, 0);
  }

  void arm_wake() noexcept {
    wake_armed_ = false;
    if (io_uring_sqe* sqe = entry()) {
      wake_armed_ = true;
      sqe->opcode = IORING_OP_POLL_ADD;
      sqe->fd = wake_.get();
      sqe->poll32_events = POLLIN;
      sqe->len = IORING_POLL_ADD_MULTI;
      sqe->user_data = woken;
    }
  }

  void enter(unsigned completions, std::int64_t timeout) noexcept {
    unsigned entries = 0;
    {
      const std::lock_guard lock(submit_mutex_);
      entries = ring_->publish();
    }
    if (entries != 0 || completions != 0 || single_thread_)
      ring_->enter(entries, completions, timeout);
  }

  /// Takes what has completed; tells whether the poller was woken.
  bool reap(operation_queue& ready) noexcept {
    bool was_woken = false;
    const std::lock_guard lock(reap_mutex_);
    unsigned reaped = 0;
    ring_->reap([&](std::uint64_t data, int result, unsigned flags) {
      ++reaped;
      if (data == ignored)
        return;
      if (data != woken) {
        static_cast<void>(submissions_.load(std::memory_order_acquire));
        driver_.answered(reinterpret_cast<io_operation*>(data), {result, flags | untold_}, ready);
        return;
      }
      was_woken = true;
      clear(wake_);
      if (!(flags & IORING_CQE_F_MORE)) {
        const std::lock_guard submit_lock(submit_mutex_);
        arm_wake();
        flush_unless_alone();
      }
    });
    reaped_.store(reaped, std::memory_order_relaxed);
    return was_woken;
  }

  io_driver& driver_;
  const bool single_thread_;
  // A kernel that does not tell whether a socket holds more is taken to say so.
  const unsigned untold_ = receives_tell_of_more() ? 0 : IORING_CQE_F_SOCK_NONEMPTY;
  bool enabled_ = true;
  bool deferred_ = false;  // DEFER_TASKRUN
  std::atomic<bool> wake_armed_{false};
  word_mutex submit_mutex_;
  word_mutex reap_mutex_;
  std::atomic<unsigned> submissions_{0};
  std::atomic<std::uint64_t> named_entries_{0};  // requests; written under submit_mutex_
  std::atomic<unsigned> reaped_{0};              // by the last reaping; written under reap_mutex_
  native_descriptor wake_;
  native_descriptor notified_;  // counts completions if deferred_, once native_handle was asked for
  std::optional<ring> ring_;
  fixed_buffers fixed_buffers_;
  fixed_files fixed_files_;
  unsigned registered_after_ = 0;  // 0: no descriptor is registered
};

std::unique_ptr<backend> make_uring_backend(io_driver& driver, const scheduler_options& options) {
  return std::make_unique<uring_backend>(driver, options.single_thread);
}

}  // namespace WEFT_NAMESPACE::detail
