// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/operation.hpp>
#include <weft/base/reference_count.hpp>
#include <weft/context/strand_queue.hpp>
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

/// What all copies of a strand share: the queue of functions, whose protocol is basic_strand_queue,
/// and how the right to run them is passed on. To a scheduler of weft's own the strand submits
/// itself, as the operation that it is: that allocates nothing and cannot fail. To other executors
/// it submits a small function object. The queue's lock is taken after the registry's.
class WEFT_API strand_state : private operation {
 public:
  /// How the right to run is passed on by `run`. Returns whether it was.
  struct resubmission {
    bool (*submit)(const void* executor, strand_state&) noexcept;
    const void* executor;
  };
  using immediate = basic_strand_queue<>::immediate;

  /// Makes a state that is idle. When `context` is destroyed, what waits is destroyed un-called; a
  /// null context is never destroyed. Throws std::bad_alloc.
  static strand_ref create(execution_context* context);

  /// As in the queue.
  bool push(operation* op) noexcept;
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

  void add_reference() noexcept { references_.add(); }
  void drop_reference() noexcept {
    if (references_.drop())
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
  void destroy_state() noexcept;

  basic_strand_queue<> queue_;
  scheduler* target_ = nullptr;  // set before the strand is submitted to it, read when it runs
  reference_count references_;
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
