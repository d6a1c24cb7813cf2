// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// A checker of concurrent code: it runs a scenario again and again, each time with another choice
/// of which thread goes next and of what each load reads, until every choice within the bounds has
/// been tried or one of them fails.
///
/// **Threads** are virtual: they take turns on one real thread, and change only before an operation
/// on an atomic, a mutex or a condition variable. The search is depth-first and stateless: an
/// execution is a sequence of choices, and the next one differs in the last choice that has an
/// alternative left. Bounded by preemptions, fewest first (Musuvathi & Qadeer, "Iterative context
/// bounding for systematic testing of multithreaded programs", PLDI 2007).
///
/// **Memory** is that of C++20, [intro.races] and [atomics.order], as an operational model with one
/// modification order per atomic object (Norris & Demsky, "CDSChecker", OOPSLA 2013; Kang et al.,
/// "A promising semantics for relaxed-memory concurrency", POPL 2017, without the promises):
///   - Happens-before is kept in vector clocks. What a thread knows passes on by release and
///     acquire, by release sequences (a store and the read-modify-writes that continue it), by
///     mutexes, and by starting and joining threads.
///   - A load reads any store that is not older, in modification order, than one that happens
///     before it or that the thread has seen. A store takes any later place, a read-modify-write
///     reads any such store that no other read-modify-write has continued.
///   - The single total order of seq_cst operations is the order in which they are executed: one
///     may not read or store before what an earlier one on the same object has read or stored.
///   - light_barrier and heavy_barrier are a store-load barrier between the two kinds only.
///
/// Every behaviour it shows is one of C++20's, so what it reports is real. It does not show all:
///   - no load sees a store that is executed later (load buffering), though C++20 lets relaxed
///   ones;
///   - no seq_cst operation precedes another in the total order but follows it through relaxed
///     ones, though C++20 permits that too;
///   - there are no fences: weft has none, for ThreadSanitizer does not know them.
namespace model {

struct options {
  /// How often a thread that could go on is made to wait for another.
  int preemptions = 2;
  /// How often an operation does other than on a machine that is sequentially consistent: reads an
  /// older store, stores before a newer one, fails a weak compare-exchange for no reason.
  int weak_choices = 2;
  /// More make the check fail: what is not explored must not look as if it were.
  std::uint64_t max_executions = 2'000'000;
  /// Operations of one execution; more are a livelock.
  std::uint64_t max_steps = 3'000;
  /// If not 0: that many executions with choices at random, instead of all.
  std::uint64_t random_executions = 0;
  std::uint64_t seed = 1;
  /// If not empty: the one execution that a failure has printed, within its bounds.
  std::string replay = {};
};

struct result {
  bool failed = false;
  std::string reason;
  std::string trace;     ///< what the threads did, a line for each operation
  std::string schedule;  ///< for options::replay
  std::uint64_t executions = 0;

  std::string message() const;
};

/// Runs `scenario` in all executions within the bounds. It is the first thread, and starts the
/// others; everything that they share is made, and destroyed, inside it. It must do the same
/// whenever the same choices are made.
result explore(const options& limits, const std::function<void()>& scenario);

/// Fails the execution unless `condition` holds. In a scenario.
void require(bool condition, std::string_view otherwise);

/// Any of 0 .. count-1: each is explored. In a scenario.
unsigned choose(unsigned count);

/// A virtual thread. Joined at the latest by its destructor.
class thread {
 public:
  explicit thread(std::function<void()> body);
  thread(thread&& other) noexcept;
  thread& operator=(thread&&) = delete;
  ~thread();
  void join();

 private:
  int index_;
};

/// The number of the calling thread; the scenario itself is 0.
int this_thread();

/// In a loop that waits for another thread: lets the others go first. A thread that spins without
/// it, or a loop that nobody ends, is a livelock.
void yield();

/// Lets each virtual thread have a value of its own of the thread_local pointer `*slot`. Before
/// `explore`; for the whole program.
void make_thread_local(void** slot);

}  // namespace model
