// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/observe/stack_frame.hpp>

namespace WEFT_NAMESPACE {
namespace observe {

/// What is known of a task: of what co_spawn, spawn, or callable::start has started, and not ended.
struct task_snapshot {
  /// So many calls of a task are told of.
  static constexpr std::size_t most_calls = 64;

  std::uint64_t id = 0;          ///< No other task of the process has it, nor had.
  const char* style = "";        ///< "coroutine" or "fiber".
  std::source_location spawned;  ///< Where it was started.
  /// Whether it waits. Otherwise it runs, or is queued to run, and what follows is empty.
  bool is_waiting = false;
  /// The type of what it waits for, as the compiler writes it: that of an operation's initiation,
  /// or of an awaitable.
  std::string waits_for;
  /// The co_awaits that it is in, the innermost first: at that one it waits. (Not those that weft
  /// makes of the token use_awaitable.) Of a fiber none.
  std::vector<std::source_location> calls;
  /// The calls on the stack of a fiber, the innermost first, but for weft's own at both ends.
  call_stack stack;
  bool has_more_calls = false;
};

/// Some lines for people:
///
///     coroutine 7 waits for weft::basic_waitable_timer<...>::initiate_async_wait
///       at pause, server.cpp:12
///       at session, server.cpp:17
///       spawned by int main(), server.cpp:31
///
/// Of a fiber, calls are told as those of a stack are: `at function+0x1c (module+0x12f0)`.
WEFT_API std::string to_string(const task_snapshot& task);

/// All tasks of the process, in the order of their ids: those that one thread has started in the
/// order in which it did.
///
/// A task that is there all the while is told of once, with what it did at one moment; but each at
/// a moment of its own. Of one that begins or ends meanwhile it may be told.
///
/// **What it costs.** Who asks pays: some 64 tasks at a time are copied, and one of these that is
/// resumed or destroyed meanwhile waits until they are; membarrier(2) is called for each 64. The
/// stacks of fibers are unwound meanwhile, some microseconds each, and named afterwards, from the
/// symbol tables of the program's files. A task
/// pays some nanoseconds for being recorded (docs/architecture.md, "Seeing inside"). It is done in
/// every build, and needs no debugging symbols; see record_tasks.
///
/// Thread safety: any thread, coroutines and handlers included. Not from a signal handler. It calls
/// operator new, which must not wait for a task. O(slots), of which there are as many as there ever
/// were tasks at a time, and O(calls) for each task that waits.
/// Throws std::bad_alloc; and system_error with no_permission if a policy that was installed since
/// the first task began refuses membarrier(2).
WEFT_API std::vector<task_snapshot> tasks();

}  // namespace observe

/// An asynchronous backtrace of each task that waits, and where the others were started, for
/// people; see observe::tasks(), which it asks. From a debugger: `call weft::dump_tasks(stderr)`.
///
///     signals.async_wait([&](weft::error_code, int) { weft::dump_tasks(stderr); });
WEFT_API std::string dump_tasks();
WEFT_API void dump_tasks(std::FILE* to);

/// Whether tasks that are started from here on are recorded. They are, unless this says otherwise:
/// what is not recorded is in no dump, for as long as it lives, and costs less. Any thread.
WEFT_API void record_tasks(bool on) noexcept;

}  // namespace WEFT_NAMESPACE
