// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/operation.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/function_view.hpp>

namespace WEFT_NAMESPACE::detail {

/// The queue of ready operations of one execution context, and the threads that run them. Each
/// context has one, as a service. What the templates need of it stands here; the class itself is
/// in src/context/scheduler/.
///
/// Work: the scheduler stops its threads when nothing is queued and the count of unfinished work is
/// zero. An operation counts from `scheduler_work_started`, when it is started, until it is queued
/// with `scheduler_complete`, or until `scheduler_work_finished`.
///
/// All of these may be called from any thread, and are O(1).
class scheduler;

/// The scheduler of `context`; made on first use. A context of the user's own that has none gets
/// one with a thread of its own, so that I/O objects work there too.
WEFT_API scheduler& use_scheduler(execution_context& context);

/// Queues an operation.
WEFT_API void scheduler_post(scheduler&, operation*) noexcept;

/// The same, of an operation that continues the handler which calls this. While several threads
/// run, it may be run next, before what was queued earlier, at most three times in a row.
WEFT_API void scheduler_defer(scheduler&, operation*) noexcept;

/// Queues `f`, and waits until it has run (or was destroyed un-called). Not from a thread that runs
/// the scheduler's operations.
WEFT_API void scheduler_run_and_wait(scheduler&, function_view f);

/// Queues an operation that was counted as work when it was started.
WEFT_API void scheduler_complete(scheduler&, operation*) noexcept;
WEFT_API void scheduler_complete(scheduler&, operation_queue&) noexcept;
/// The same, of an operation that the calling handler has made ready, as scheduler_defer.
WEFT_API void scheduler_complete_next(scheduler&, operation*) noexcept;

WEFT_API void scheduler_work_started(scheduler&) noexcept;
WEFT_API void scheduler_work_finished(scheduler&) noexcept;

/// Whether the calling thread is running this scheduler's operations.
WEFT_API bool scheduler_running_in_this_thread(const scheduler&) noexcept;

}  // namespace WEFT_NAMESPACE::detail
