// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <weft/base/owned_pointer.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/observe/stack_frame.hpp>

namespace WEFT_NAMESPACE::observe {

/// A handler that has held its thread for too long.
struct stall {
  std::uint64_t id = 0;    ///< The same in both reports, and in no others of its detector.
  bool has_ended = false;  ///< False in the first report, true in the second.
  std::chrono::nanoseconds duration{};  ///< Until this report, to a quarter of the limit.
  std::thread::id thread;
  /// The type of the handler, as the compiler writes it; of a strand's, the function's that runs.
  std::string handler;
  /// Where the thread was when the stall was found. Empty if it did not answer, or has gone on.
  call_stack stack;
  /// Where the operation was started or posted, without weft's own calls if they can be told. Empty
  /// unless stall_detector_options::origins is set, and for operations that were started before.
  call_stack origin;
};

/// Some lines for people.
WEFT_API std::string to_string(const stall& s);

struct stall_detector_options {
  /// How long a handler may hold a thread. At least 1 ms; what is shorter is taken for that.
  std::chrono::nanoseconds limit = std::chrono::milliseconds(100);
  /// Remember the stack of whoever starts or posts an operation: of all in the process, while such
  /// a detector lives. Some microseconds for each operation, and some memory for each address that
  /// operations have had.
  bool origins = false;
  /// The signal by which a thread is asked for its stack: ignored by default (SIGURG, SIGWINCH), or
  /// one for which the program has a handler; see stall_detector. 0 is SIGURG, negative is none:
  /// there are no stacks then.
  int signal_number = 0;
};

/// Watches the threads in `run()` of a context, and names the handlers that hold one of them beyond
/// a limit: to see who blocks, or computes, where others wait.
///
///     weft::observe::stall_detector detector(context, std::chrono::milliseconds(50));
///
/// Each stall is reported twice, between one and one and a half limits after it began, and when it
/// has ended: to the callback, or else to the standard error stream. What counts as one handler is
/// what a worker runs at once: a handler with what it dispatches, and with nested calls of
/// `run_one`; but each function of a strand for itself. A detector that is made while handlers run
/// sees these begin then.
///
/// **How.** A thread of the detector's own looks four times per limit at how many handlers each
/// worker has begun, and sleeps while all of them sleep. Handlers pay a few instructions for it,
/// whether there is a detector or not (see `metrics`). Their types need neither RTTI nor symbols;
/// the names of functions in stacks need the symbols of the program (not stripped), but no more.
///
/// **The signal.** To tell its stack a thread is interrupted, once per stall, by SIGURG (whose
/// default is to be ignored) or the signal of the options. A handler for that is installed while
/// any such detector lives. It passes on all signals but the detector's own to the handler that was
/// there before, which is put back at the end, unless the program has installed another meanwhile;
/// then there are no stacks. A thread that blocks the signal has none either, and while the
/// question waits for it the detector's handler outlives the detector, if there was one before. A
/// signal that has no handler is refused where its default would end or stop the process. As with
/// any signal, system calls that are not restarted (sleeps and waits; see signal(7)) may return
/// early with EINTR in the stalled handler. Inside, only backtrace(3) is called, which with
/// glibc 2.35 and GCC 12 or later takes no lock and allocates nothing.
///
/// **The callback** is called on the detector's thread, with nothing locked; one at a time. It must
/// not throw, nor destroy the detector. A report for which there is no memory is left out.
///
/// Thread safety: any thread may make and destroy detectors, several on a context; each must be
/// destroyed before its context. In the child of a fork it is at rest. Throws std::bad_alloc;
/// system_error with invalid_argument for a signal that cannot be used; and std::system_error if
/// there are no threads left.
class WEFT_API stall_detector {
 public:
  using callback = std::function<void(const stall&)>;

  stall_detector(execution_context& context, const stall_detector_options& options,
                 callback report = {});
  stall_detector(execution_context& context, std::chrono::nanoseconds limit, callback report = {})
      : stall_detector(context, stall_detector_options{.limit = limit}, std::move(report)) {}
  /// Waits for a report that is being made.
  ~stall_detector();

 private:
  class watcher;
  struct watcher_end {
    void operator()(watcher* w) const noexcept;
  };
  detail::owned_pointer<watcher, watcher_end> watcher_;
};

}  // namespace WEFT_NAMESPACE::observe
