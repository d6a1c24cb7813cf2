// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <liburing.h>

#include <cstdint>
#include <cstring>

namespace WEFT_NAMESPACE::detail {

/// An io_uring instance: liburing's set-up of the rings, with the submission split in two, so that
/// the entries are published under a lock but the system call is made outside it. The array between
/// the submission queue and its entries, if there is one, maps them one to one.
///
/// The caller locks: `next_entry` and `publish` against one another; `reap` against itself.
class ring {
 public:
  /// Throws what io_uring_setup(2) reports.
  ring(unsigned entries, unsigned completions, unsigned flags);
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring();

  /// A zeroed submission entry, or null if the queue is full until the next `enter`.
  io_uring_sqe* next_entry() noexcept {
    const io_uring_sq& sq = ring_.sq;
    // The kernel has read an entry before it stores the head (release).
    if (made_ - __atomic_load_n(sq.khead, __ATOMIC_ACQUIRE) > sq.ring_mask) [[unlikely]]
      return nullptr;
    io_uring_sqe* const sqe = &sq.sqes[made_++ & sq.ring_mask];
    std::memset(sqe, 0, sizeof *sqe);
    return sqe;
  }

  /// Shows the kernel the entries made so far; returns how many it has not taken yet.
  unsigned publish() noexcept {
    // The kernel reads the tail with acquire.
    __atomic_store_n(ring_.sq.ktail, made_, __ATOMIC_RELEASE);
    return made_ - __atomic_load_n(ring_.sq.khead, __ATOMIC_ACQUIRE);
  }

  /// io_uring_enter(2): submits up to `entries` published ones and waits for `completions` at most
  /// `timeout` nanoseconds (INT64_MAX: for ever). Returns 0 or a negated errno value; ETIME and
  /// EINTR are no errors.
  int enter(unsigned entries, unsigned completions, std::int64_t timeout) noexcept;

  /// Whether the kernel has these features (IORING_FEAT_*), and operations up to `last`.
  bool supports(unsigned features, io_uring_op last) noexcept;

  /// Readable while completions wait to be reaped.
  int native_handle() const noexcept { return ring_.ring_fd; }

  /// Has completions counted by an eventfd, in place of the one before. Returns 0 or a negated
  /// errno value. Threads as make_fixed_table.
  int notify(int eventfd) noexcept;

  /// Whether completions wait to be reaped.
  bool ready() const noexcept;

  /// Calls `f(user_data, result, flags)` for each completion there is now, after it has left the
  /// queue; those that did not fit into the queue (IORING_SQ_CQ_OVERFLOW) included, for which
  /// io_uring_peek_cqe enters the kernel.
  template <class F>
  void reap(F f) {
    io_uring_cqe* cqe = nullptr;
    while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
      // As the queue is emptied by this thread alone, no more need be asked for each of these.
      for (unsigned left = io_uring_cq_ready(&ring_), head = *ring_.cq.khead; left != 0; --left) {
        cqe = &ring_.cq.cqes[head & ring_.cq.ring_mask];
        const std::uint64_t data = cqe->user_data;
        const int result = cqe->res;
        const unsigned flags = cqe->flags;
        __atomic_store_n(ring_.cq.khead, ++head, __ATOMIC_RELEASE);
        f(data, result, flags);
      }
    }
  }

  /// Registers a ring of `entries` buffers at `memory`, as buffer group `group`. False: the kernel
  /// refuses it. Any thread.
  bool provide(void* memory, unsigned entries, int group) noexcept;

  /// Makes an empty table of registered buffers, once. False: the kernel refuses it. Any thread,
  /// but of an enabled ring with SINGLE_ISSUER only its own.
  bool make_fixed_table(unsigned entries) noexcept;

  /// Replaces entries of that table, from `first` on; {} empties one. Returns how many it has
  /// replaced. Threads as before.
  unsigned replace_fixed(unsigned first, const iovec* entries, unsigned count) noexcept;

  /// The same for registered descriptors, of which one entry is replaced at a time; -1 empties it.
  /// The first fails, too, if there are more entries than RLIMIT_NOFILE allows descriptors.
  bool make_file_table(unsigned entries) noexcept;
  bool replace_file(unsigned entry, int fd) noexcept;

  /// Lets the calling thread be the only one that submits (rings made with R_DISABLED).
  void enable() noexcept;

 private:
  io_uring ring_;
  unsigned made_ = 0;  // the tail of the submission queue, once it is published
};

}  // namespace WEFT_NAMESPACE::detail
