// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <weft/base/worker_counts.hpp>
#include <weft/context/backend_kind.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/observe/histogram.hpp>

namespace WEFT_NAMESPACE::observe {

/// What has been done; see there for the fields. The difference of two tells what came between
/// them.
using counts = detail::worker_counts;

/// A thread in `run()` or one of its siblings.
struct worker_metrics {
  std::uint64_t id = 0;     ///< Tells the stays in `run()` apart; no two of a context are equal.
  std::thread::id thread;   ///< Whose stay it is.
  bool is_asleep = false;   ///< Or it looks for events; it runs no handler.
  std::size_t waiting = 0;  ///< Operations in its queue. While it is alone, metrics::waiting tells.
  counts done;
};

/// The operations that have been started and have not finished, by what they wait for.
struct pending_operations {
  std::size_t reads = 0;   ///< Reads and receives; of streams, too.
  std::size_t writes = 0;  ///< Writes and sends.
  std::size_t accepts = 0;
  std::size_t connects = 0;
  std::size_t readiness = 0;  ///< `async_wait` of sockets and descriptors.
  std::size_t files = 0;      ///< Whatever is done with files and file systems.
  std::size_t processes = 0;  ///< Ends of child processes.
  std::size_t timers = 0;     ///< Waits of timers, and time limits of operations.
  std::size_t lookups = 0;    ///< Of names.

  std::size_t total() const noexcept {
    return reads + writes + accepts + connects + readiness + files + processes + timers + lookups;
  }
};

/// A snapshot of what a context does and has done, as a value.
///
///     const weft::observe::metrics before(context);
///     ...
///     const weft::observe::metrics now(context);
///     std::printf("%ju handlers\n", std::uintmax_t((now.total - before.total).run));
///
/// Taking one stops nobody: the counts are written by the threads that they are of, and read while
/// these go on, so they may be of slightly different instants. Those of threads that have left stay
/// in `total`. Nothing has to be switched on for them; see `measure` for the times.
///
/// What it costs: each operation that is queued and run pays five instructions, a function of a
/// strand 17, for this and for the stall detector, whether anybody asks or not
/// (docs/architecture.md, "Seeing inside"). A snapshot takes the context's mutex for a few loads
/// per worker, and each I/O object's for a few per operation pending on it: O(workers + objects +
/// operations).
///
/// Thread safety: any thread may take one at any time while the context lives, handlers included.
/// Throws std::bad_alloc.
struct WEFT_API metrics {
  explicit metrics(execution_context& context);

  backend_kind backend = backend_kind::automatic;  ///< epoll or uring.
  counts total;                                    ///< Of all threads that are or were in `run()`.
  std::vector<worker_metrics> workers;             ///< Those that are.
  /// Operations ready to run and not yet run. What other threads have posted since somebody last
  /// looked at that is not among them.
  std::uint64_t waiting = 0;
  pending_operations pending;

  /// Whether `measure` is on. What follows has been measured while it was.
  bool measures = false;
  /// From when an operation is ready (queued by a handler or another thread, or brought by a poll)
  /// until it begins to run.
  histogram queue_delay;
  /// How long operations run: a handler, with what it dispatches and what it runs while it waits in
  /// a nested `run_one`; or a whole turn of a strand.
  histogram run_time;
};

/// Begins, or ends, to measure how long operations of the context wait and run. It can also be
/// asked for by io_context_options::measure. Off, unless asked for.
///
/// **Method.** Each thread times one in 64 of the operations it queues, and one in 64 of those it
/// runs, on the average, at random distances. So the figures are of a sample, free of rhythm, but
/// with these biases: a rare long handler may be missed (the stall detector is for these); at most
/// 16 operations are timed at once from queue to run, so while the queue is long for a long time
/// its delays weigh less than their number; `max` is the longest of the sample. One measurement is
/// two readings of the clock, about 50 ns.
///
/// Thread safety: any thread, at any time. Throws std::bad_alloc the first time.
WEFT_API void measure(execution_context& context, bool on = true);

}  // namespace WEFT_NAMESPACE::observe
