// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include <weft/base/operation.hpp>
#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE::detail {

class scheduler;
class strand_registry;
class strand_state;

/// Counts one reference to a strand's state.
class strand_ref {
 public:
  strand_ref() = default;
  explicit strand_ref(strand_state* adopted) noexcept : state_(adopted) {}
  strand_ref(const strand_ref& other) noexcept;
  strand_ref(strand_ref&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  strand_ref& operator=(strand_ref other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~strand_ref();

  strand_state* get() const noexcept { return state_; }
  strand_state& operator*() const noexcept { return *state_; }
  strand_state* operator->() const noexcept { return state_; }
  strand_state* release() noexcept { return std::exchange(state_, nullptr); }
  friend bool operator==(const strand_ref&, const strand_ref&) noexcept = default;

 private:
  strand_state* state_ = nullptr;
};

/// What all copies of a strand share: the functions that wait, and who may run them.
///
/// The protocol. A strand is *idle* or *scheduled* (`scheduled_`). Whoever makes it scheduled (by
/// the first push, or by entering it) holds the only right to run functions, and passes the right
/// on by submitting the strand to its executor. `run` is where the right is exercised:
///   1. It takes all that waits as one batch, and runs it in order.
///   2. If more has come meanwhile, the right is submitted again, so that others in the executor
///      have their turn. If that is impossible (an executor that cannot post, or has no memory), it
///      goes on inline. Nothing is lost.
///   3. If nothing waits, the strand becomes idle, under the lock.
///   4. A function that throws: what is left of the batch goes back to the front, 2 or 3 is done,
///      and then the exception goes on to the executor.
/// To a scheduler of weft's own the strand submits itself, as the operation that it is: that
/// allocates nothing and cannot fail. To other executors it submits a small function object.
///
/// One uncontended lock per push, and two per batch. `mutex_` guards `waiting_`, `scheduled_`,
/// `closed_` and `runs_`; nothing is called while it is held. It is taken after the registry's.
class WEFT_API strand_state : private operation {
 public:
  /// How the right to run is passed on by `run`. Returns whether it was.
  struct resubmission {
    bool (*submit)(const void* executor, strand_state&) noexcept;
    const void* executor;
  };
  /// A function to be run before the batch: `call(argument)`.
  struct immediate {
    void (*call)(void* argument);
    void* argument;
  };

  /// Makes a state that is idle. When `context` is destroyed, what waits is destroyed un-called; a
  /// null context is never destroyed. Throws std::bad_alloc.
  static strand_ref create(execution_context* context);

  /// Takes the function into the queue. Returns whether the caller must submit the strand now.
  bool push(operation* op) noexcept;

  /// Makes an idle strand scheduled. Returns whether it was idle; the caller must then `run`.
  bool try_enter() noexcept;

  /// Runs what waits. The caller holds the right to run, and a reference. Throws what a function
  /// throws.
  void run(resubmission again, immediate first = {nullptr, nullptr});

  /// Submits the strand to a scheduler, by itself.
  void schedule(scheduler& target) noexcept;
  /// As `run`, passing on the right by `schedule`.
  void run_on(scheduler& target, immediate first);

  /// For a submission that may fail: `ticket` before; if it threw, `submission_failed`, which takes
  /// `op` out and destroys it, and runs what others have pushed after it; nothing if the
  /// exception came from a function that the submission ran.
  unsigned ticket() noexcept;
  void submission_failed(unsigned ticket, operation* op, resubmission again);

  /// Whether the calling thread is inside `run` of this strand.
  bool running_in_this_thread() const noexcept;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy_state();
  }

 private:
  friend class strand_registry;
  struct frame;

  explicit strand_state(strand_registry* registry) noexcept
      : operation(&complete), registry_(registry) {}
  ~strand_state() = default;

  static void complete(operation* base, action what);
  static bool reschedule(const void*, strand_state& self) noexcept;
  void close(operation_queue& abandoned) noexcept;
  bool leave(operation_queue& rest) noexcept;
  void destroy_state() noexcept;

  std::mutex mutex_;
  bool scheduled_ = false;
  bool closed_ = false;  // the context is gone
  unsigned runs_ = 0;    // how often the right to run has been exercised
  operation_queue waiting_;
  scheduler* target_ = nullptr;  // set before the strand is submitted to it, read when it runs
  // Written by every copy of the strand; the releasing decrements pair with the acquire of the
  // last one, so that the state is destroyed after every use.
  std::atomic<unsigned> references_{1};
  strand_registry* const registry_;
  strand_state* previous_ = nullptr;  // links of the registry, guarded by its lock
  strand_state* next_ = nullptr;
};

inline strand_ref::strand_ref(const strand_ref& other) noexcept : state_(other.state_) {
  if (state_)
    state_->add_reference();
}
inline strand_ref::~strand_ref() {
  if (state_)
    state_->drop_reference();
}

}  // namespace WEFT_NAMESPACE::detail
