// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>

#include <weft/context/scheduler_executor.hpp>
#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE {

class thread_pool;
template <>
inline constexpr bool detail::has_own_threads<thread_pool> = true;

/// An execution context with a fixed number of threads of its own, which run the functions
/// submitted to it. I/O objects work on it too.
///
/// Thread safety: all members may be called from any thread, but `join`, `wait` and notify_fork:
/// not beside one another. An exception that leaves a function ends the program.
///
///     weft::thread_pool pool(4);
///     weft::post(pool, [] { work(); });
///     pool.join();
class WEFT_API thread_pool : public execution_context {
 public:
  template <class Allocator, unsigned Bits>
  using basic_executor_type = detail::scheduler_executor<thread_pool, Allocator, Bits>;
  using executor_type = basic_executor_type<std::allocator<void>, 0>;

  /// Two threads for each that the hardware runs at once.
  thread_pool();
  /// `num_threads` may be 0: then only `attach` runs anything. Throws system_error if a thread
  /// cannot be started.
  explicit thread_pool(std::size_t num_threads);
  thread_pool(std::size_t num_threads, const service_maker& initial_services);
  template <class Allocator>
  thread_pool(std::allocator_arg_t, const Allocator& a, std::size_t num_threads = default_threads())
      : execution_context(std::allocator_arg, a), scheduler_(make_scheduler()) {
    start(num_threads);
  }
  template <class Allocator>
  thread_pool(std::allocator_arg_t, const Allocator& a, std::size_t num_threads,
              const service_maker& initial_services)
      : execution_context(std::allocator_arg, a, initial_services), scheduler_(make_scheduler()) {
    start(num_threads);
  }
  /// Stops and joins. What has not run is destroyed.
  ~thread_pool();

  executor_type get_executor() noexcept;
  executor_type executor() noexcept { return get_executor(); }

  /// Lets the calling thread work for the pool until it is stopped or joined and out of work.
  void attach();
  /// Makes the threads return as soon as their current functions have.
  void stop();
  /// Lets the threads go on until there is no work left, and joins them. Nothing can be run
  /// afterwards but by `attach`.
  void join();
  /// As `join`.
  void wait() { join(); }

 private:
  template <class, class, unsigned>
  friend class detail::scheduler_executor;

  static detail::scheduler& scheduler_of(const thread_pool& self) noexcept {
    return self.scheduler_;
  }
  static std::size_t occupancy_of(const thread_pool& self) noexcept { return self.num_threads_; }
  static std::size_t default_threads() noexcept;
  detail::scheduler& make_scheduler();
  void start(std::size_t num_threads);

  detail::scheduler& scheduler_;
  std::size_t num_threads_ = 0;
  bool is_guarded_ = true;  // the pool counts as work until it is joined
};

/// The name of thread_pool in earlier forms of the executors proposal.
using static_thread_pool = thread_pool;

}  // namespace WEFT_NAMESPACE
