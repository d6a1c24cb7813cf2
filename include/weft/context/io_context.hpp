// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>

#include <weft/base/chrono.hpp>
#include <weft/context/backend_kind.hpp>
#include <weft/context/scheduler_executor.hpp>
#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE {

/// Says that a context and all its objects stay on one thread; see io_context.
struct single_thread_t {
  explicit single_thread_t() = default;
};
inline constexpr single_thread_t single_thread{};

/// How an io_context is to be made.
struct io_context_options {
  /// How many threads are expected in `run()` at once. It decides nothing: the context goes by how
  /// many there are.
  int concurrency_hint = -1;
  /// Everything on one thread, which is checked; see io_context.
  bool single_thread = false;
  /// The backend to use; an unavailable one is an error.
  backend_kind backend = backend_kind::automatic;
  /// Measure how long operations wait and run; see observe::measure.
  bool measure = false;
  /// How long a thread that has run out of handlers looks for more before it sleeps: it then takes
  /// what is posted, and events, without the time that waking it would take. One thread at a time
  /// does so, and only after it has run something. It costs that processor time. None by default;
  /// some tens of microseconds are usual; more than a day counts as one. Also set by the
  /// configuration `scheduler.spin`, in nanoseconds.
  std::chrono::nanoseconds spin{0};
};

/// An execution context whose functions are run by whichever threads call `run()`, and on which
/// sockets, timers, files and the other I/O objects work.
///
/// **Threads.** Any number may be in `run()`, and may enter and leave at any time. Whatever
/// `concurrency_hint` says, all members and the executors may be used from any thread (but not the
/// constructor, the destructor and notify_fork). While one thread alone is in `run()`, functions
/// posted from its own handlers cost no lock, fence or atomic read-modify-write, and handlers run
/// in the order of their posting. With two or more, a handler that blocks holds up nobody else's
/// handlers, timers or I/O.
///
/// **One thread only.** `io_context{single_thread}` is for programs that keep the context and its
/// objects on one thread: `run()` and every start of an operation. A use from a second thread ends
/// the program with a message. In return io_uring may be used in its cheapest mode (Linux 6.1).
///
/// **Backend.** epoll or io_uring, chosen when the context is made: by `io_context_options`, else
/// by the configuration `backend.kind`, else by the environment variable WEFT_BACKEND (`epoll` or
/// `uring`), else epoll. Naming one that is unavailable throws operation_not_supported, an unknown
/// name invalid_argument.
///
/// **Exceptions** of a handler leave `run()`, which may then be called again; nothing else is lost.
/// (So does std::bad_alloc, at once, if there is no memory for one more thread in `run()`.)
///
/// **Destruction** destroys handlers that have not been called. No thread may be in `run()` then.
///
///     weft::io_context context;
///     weft::post(context, [] { std::puts("hello"); });
///     context.run();
class WEFT_API io_context : public execution_context {
 public:
  template <class Allocator, unsigned Bits>
  using basic_executor_type = detail::scheduler_executor<io_context, Allocator, Bits>;
  /// The executor that posts to this context.
  using executor_type = basic_executor_type<std::allocator<void>, 0>;
  using count_type = std::size_t;
  class strand;
  class service;

  io_context();
  /// The hint is as in io_context_options: the context is that of the default constructor.
  explicit io_context(int concurrency_hint);
  explicit io_context(single_thread_t);
  explicit io_context(const io_context_options& options);
  /// Makes the services of `initial_services` in the new context.
  explicit io_context(const service_maker& initial_services);
  template <class Allocator>
  io_context(std::allocator_arg_t, const Allocator& a, const io_context_options& options = {})
      : execution_context(std::allocator_arg, a), scheduler_(make_scheduler(options)) {}
  template <class Allocator>
  io_context(std::allocator_arg_t, const Allocator& a, int concurrency_hint)
      : io_context(std::allocator_arg, a,
                   io_context_options{.concurrency_hint = concurrency_hint}) {}
  template <class Allocator>
  io_context(std::allocator_arg_t, const Allocator& a, const service_maker& initial_services)
      : execution_context(std::allocator_arg, a, initial_services),
        scheduler_(make_scheduler({})) {}
  ~io_context();

  executor_type get_executor() noexcept { return executor_type(this, {}); }

  /// The backend that serves I/O here: epoll or uring.
  backend_kind backend() const noexcept;

  /// Runs handlers until there is no more work or the context is stopped. Returns how many ran.
  /// When it has returned because work has run out, the context is stopped: `restart` it first to
  /// run it again.
  count_type run();
  /// Runs at most one handler; waits for it as `run` does.
  count_type run_one();
  /// As `run`, but returns after the given time at the latest (a handler is not interrupted).
  template <class Rep, class Period>
  count_type run_for(const std::chrono::duration<Rep, Period>& time) {
    return run_until(deadline_after(time));
  }
  template <class Clock, class Duration>
  count_type run_until(const std::chrono::time_point<Clock, Duration>& time) {
    count_type n = 0;
    while (run_one_until(time) != 0)
      ++n;
    return n;
  }
  count_type run_until(const std::chrono::steady_clock::time_point& time);
  /// Runs at most one handler, and waits no longer than the given time for it.
  template <class Rep, class Period>
  count_type run_one_for(const std::chrono::duration<Rep, Period>& time) {
    return run_one_until(deadline_after(time));
  }
  template <class Clock, class Duration>
  count_type run_one_until(const std::chrono::time_point<Clock, Duration>& time) {
    // Another clock may be set: it is asked again at least every second.
    for (;;) {
      const auto left = time - Clock::now();
      if (left <= left.zero())
        return 0;
      const bool last = left <= std::chrono::seconds(1);
      if (const count_type n =
              run_one_until(last ? deadline_after(left) : deadline_after(std::chrono::seconds(1))))
        return n;
      if (stopped())
        return 0;
    }
  }
  count_type run_one_until(const std::chrono::steady_clock::time_point& time);

  /// Runs the handlers that are ready, without waiting. Returns how many ran.
  count_type poll();
  /// Runs at most one handler that is ready.
  count_type poll_one();
  /// As `poll`, but begins no handler once the given time has passed: for a loop that can spare so
  /// much of each frame. What is left is taken by the next call, which looks for events first.
  template <class Rep, class Period>
  count_type poll_for(const std::chrono::duration<Rep, Period>& time) {
    return poll_until(deadline_after(time));
  }
  count_type poll_until(const std::chrono::steady_clock::time_point& time);

  /// A descriptor on which another loop can wait, by poll(2), epoll(7) or select(2): it is readable
  /// whenever `poll` would find something to run. So: wait until it is readable, call `poll` or one
  /// of its siblings, wait again; no event is lost, wherever it comes from. It may also be readable
  /// when there is nothing to run. It is the context's own: do not read or close it.
  ///
  /// It is made by the first call; from then on each return from `run` and its siblings costs
  /// a few system calls. While other threads are in `run`, they serve what comes; what they leave
  /// behind makes the descriptor readable. So do `stop` and running out of work, but while the
  /// context is stopped, `poll` takes nothing, and what comes is told by `restart`. On io_uring the
  /// waiting system call may end early, with EINTR.
  ///
  /// In the child of a fork it has the same number; sets of epoll(7) have to be told of it anew.
  ///
  /// Throws system_error: no_descriptors, no_memory ... Any thread, but for `single_thread` only
  /// the context's. O(1).
  ///
  ///     pollfd p{context.poll_descriptor(), POLLIN, 0};
  ///     while (!context.stopped()) {
  ///       ::poll(&p, 1, -1);
  ///       context.poll();
  ///     }
  int poll_descriptor();

  /// Makes all calls of `run` and its siblings return as soon as their current handlers have. What
  /// is queued or pending stays so.
  void stop();
  /// Whether the context was stopped, or ran out of work.
  bool stopped() const;
  /// Makes it ready for another `run`.
  void restart();

 private:
  template <class, class, unsigned>
  friend class detail::scheduler_executor;

  static detail::scheduler& scheduler_of(const io_context& self) noexcept {
    return self.scheduler_;
  }
  detail::scheduler& make_scheduler(const io_context_options& options);

  template <class Rep, class Period>
  static std::chrono::steady_clock::time_point deadline_after(
      const std::chrono::duration<Rep, Period>& time) {
    using clock = std::chrono::steady_clock;
    const auto now = clock::now();
    // A longer time than the clock can count is for ever.
    if (std::chrono::duration<double>(time) >=
        std::chrono::duration<double>(clock::time_point::max() - now))
      return clock::time_point::max();
    return now + std::chrono::ceil<clock::duration>(time);
  }

  detail::scheduler& scheduler_;
};

/// The base of services that only an io_context can have. Their constructor takes an `io_context&`.
class io_context::service : public execution_context::service {
 public:
  /// The context that owns the service.
  io_context& get_io_context() noexcept { return static_cast<io_context&>(context()); }

 protected:
  explicit service(io_context& owner) noexcept : execution_context::service(owner) {}
};

/// As use_service(execution_context&), for services whose constructor takes an `io_context&` too.
template <class Service>
Service& use_service(io_context& context) {
  return detail::service_access::use<Service>(context);
}

}  // namespace WEFT_NAMESPACE
