// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/error_code.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/scheduler.hpp>

struct io_uring_sqe;

namespace WEFT_NAMESPACE::detail {

class io_driver;
class io_object;
class io_operation;
struct registered_transfer;
struct stream_consumer;

/// The queues of an I/O object. Operations of one queue are performed in the order they were
/// started, one at a time; those of `concurrent` have no order and are all under way at once.
enum class io_queue : std::uint8_t { read, write, except, concurrent };

/// What an attempt came to.
enum class io_status : std::uint8_t {
  again,    ///< Not now: it would block.
  more,     ///< It could go on, but lets others have their turn first.
  done,     ///< Finished, or failed: the result is stored.
  drained,  ///< Finished, and nothing more is there to be had until the descriptor says so.
  later,    ///< It would block, and no readiness will tell when not: it is tried from time to time.
};

/// What io_uring answers to a submission: bytes or a descriptor, or a negated errno value; and the
/// flags of the completion. IORING_CQE_F_SOCK_NONEMPTY is set, too, if the kernel does not know it.
struct io_answer {
  int result;
  unsigned flags;
};

/// What sort of thing an operation waits for, as far as its queue and io_kind::blocking do not say.
enum class io_activity : std::uint8_t {
  transfer,   ///< Bytes, of a file if it is `blocking`; or connections if it `makes_descriptor`.
  connect,    ///< A connection.
  readiness,  ///< That the descriptor is ready.
  exit,       ///< The end of a child process.
  internal    ///< Something for weft itself.
};

/// What an operation does, apart from any handler: one constant per operation, in src/io/op/. Its
/// functions are called with the object's lock held and must not block (but `blocking` ones).
struct io_kind {
  /// One attempt by system call. Retries EINTR.
  io_status (*perform)(io_operation&) noexcept;

  /// Describes the operation to io_uring: fills a zeroed submission entry except its user_data.
  /// What it points at must stay valid until the operation completes. Null: io_uring waits until
  /// the descriptor is ready for the operation's queue and then calls `perform`.
  void (*prepare)(io_operation&, io_uring_sqe&) noexcept;

  /// Takes io_uring's answer (never ECANCELED). `again` submits the operation once more. Not null
  /// if `prepare` is not.
  io_status (*finish)(io_operation&, io_answer) noexcept;

  /// Whether `perform` may block (files, name look-ups in a file system): where io_uring does not
  /// take the operation, a helper thread performs it.
  bool blocking = false;

  /// Whether it makes a descriptor. After one found none left, the next on the object waits a
  /// while, or until the context closes a descriptor, so that a loop of them does not spin.
  bool makes_descriptor = false;

  /// Of an operation that waits for the items of a stream_source: its part of the stream. Such an
  /// operation has no `prepare`.
  stream_consumer& (*consumer)(io_operation&) noexcept = nullptr;

  /// Of an operation on a registered buffer: what it has besides. `prepare` and `finish` look there
  /// whether the kernel knows the buffer; if it does, no attempt by system call is made before.
  registered_transfer& (*registered)(io_operation&) noexcept = nullptr;

  /// Whether it goes on by itself until all of its bytes are transferred: then a total cancellation
  /// ends it only before the first of them.
  bool whole = false;

  /// For those who count what is pending.
  io_activity activity = io_activity::transfer;

  // Of a stream_source, which has `prepare` and otherwise only these.

  /// Takes one of io_uring's answers (ECANCELED, too). Returns whether more follow.
  bool (*feed)(io_operation&, io_answer) noexcept = nullptr;

  /// Whether io_uring can be given the operation now. Null: always.
  bool (*offer)(io_operation&) noexcept = nullptr;

  /// Frees the source.
  void (*destroy)(io_operation&) noexcept = nullptr;

  /// Whether none of the peculiarities above apply: most operations, on which no time is lost.
  bool plain = !blocking && !makes_descriptor && !consumer && !registered && !feed;
};

/// A pending operation on a descriptor, or (with no object) on the operating system at large.
///
/// States, guarded by the lock of its object (by that of the driver's own object, if it has none):
/// - fresh -> queued: it waits for its turn, or for readiness.
/// - queued -> submitted: the kernel or a helper thread has it.
/// - submitted -> queued: they have answered; it may be submitted again.
/// - fresh | queued -> finished: performed, failed or cancelled.
///
/// A finished operation is in the scheduler's queue, or runs, and is touched by nobody else.
class WEFT_API io_operation : public operation {
 public:
  /// The scheduler whose threads complete the operation.
  scheduler& owner() const noexcept { return *scheduler_; }

  // The result, valid when finished; no error is set before.
  stored_error ec;
  std::size_t bytes = 0;

  /// The descriptor to work on, or -1; set when the operation is started.
  int fd;

  void fail(int errno_value) noexcept { ec = errno_code(errno_value); }

  const io_kind& kind() const noexcept { return *kind_; }
  io_queue queue() const noexcept { return queue_; }

 protected:
  io_operation(function f, scheduler& owner, const io_kind& kind, io_queue queue) noexcept
      : operation(f), scheduler_(&owner), kind_(&kind), queue_(queue) {}
  ~io_operation() = default;

 private:
  friend class io_driver;
  friend class io_object;
  friend class io_operation_list;
  friend class epoll_backend;
  friend class uring_backend;
  friend class blocking_pool;
  friend class stream_source;

  enum class state : std::uint8_t { fresh, queued, submitted, finished };

  scheduler* scheduler_;
  const io_kind* kind_;
  io_object* object_ = nullptr;  // from before it is started
  io_operation* before_;         // neighbours in the object's queue, while it is there
  io_operation* after_;
  io_operation* prev_;  // if pooled_: neighbours in the pool's queue; null when it is not there
  io_operation* next_;
  io_queue queue_;
  state state_ = state::fresh;
  bool cancelled_ = false;     // a cancel was asked for: ECANCELED is an answer, not an accident
  bool unless_begun_ = false;  // but only if no byte had been transferred (io_kind::whole)
  bool polled_ = false;        // io_uring has a readiness poll of it, not the operation itself
  bool pooled_ = false;        // submitted to a helper thread, not to the kernel
  bool later_ = false;         // the last attempt said so: the object's time counts, not readiness
};

/// The results most operations have: void (error_code, std::size_t).
class transfer_operation : public io_operation {
 public:
  operation_results<error_code, std::size_t> take_results() noexcept { return {ec, bytes}; }

 protected:
  using io_operation::io_operation;
  ~transfer_operation() = default;
};

/// The results of operations that only succeed or fail: void (error_code).
class status_operation : public io_operation {
 public:
  operation_results<error_code> take_results() noexcept { return {ec}; }

 protected:
  using io_operation::io_operation;
  ~status_operation() = default;
};

}  // namespace WEFT_NAMESPACE::detail
