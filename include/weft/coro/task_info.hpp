// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Names a task of a task_manager. Numbers are never used again; 0 names none.
enum class task_id : std::uint64_t {};

enum class task_state : unsigned char {
  waiting,    ///< for other tasks to end, or to be released
  queued,     ///< for room: max_running tasks are running
  running,    ///< started, and not ended
  done,       ///< ended with a result
  failed,     ///< ended with an error
  cancelled,  ///< killed, or never begun because a task that it waited for has not been done
  timed_out   ///< cancelled at its deadline
};
inline constexpr std::size_t task_state_count = 7;

constexpr bool has_ended(task_state s) noexcept {
  return s >= task_state::done;
}

/// "waiting" and so on.
WEFT_API const char* to_string(task_state s) noexcept;

/// What a task_manager tells of a task.
struct task_info {
  task_id id{};
  task_state state{};
  std::source_location where;                     ///< Where it was started.
  std::chrono::steady_clock::time_point since{};  ///< When it came into this state.
  std::vector<task_id> waits_for;                 ///< Tasks that must end before it begins.
  std::exception_ptr error;                       ///< Of one that has ended, and is not done.
};

/// How many tasks there are in each state. Of those that have ended, all are counted that ever
/// were.
struct task_counts {
  std::array<std::size_t, task_state_count> of{};

  std::size_t operator[](task_state s) const noexcept { return of[static_cast<std::size_t>(s)]; }
  std::size_t unfinished() const noexcept { return of[0] + of[1] + of[2]; }
};

/// How a task is to be started.
struct task_options {
  /// The tasks that must end first. If one of them does not end as done, the task is cancelled.
  std::vector<task_id> after{};
  /// Whether it begins even so.
  bool after_failure = false;
  /// Whether it waits to be released, so that others can be made that it depends on.
  bool held = false;
  /// When it is cancelled, begun or not, unless it has ended: whichever comes first. The timeout
  /// counts from its start.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::duration timeout = std::chrono::steady_clock::duration::max();
};

struct task_manager_options {
  /// How many tasks may run at a time; others are queued, first come, first served.
  std::size_t max_running = static_cast<std::size_t>(-1);
  /// How many tasks that have ended, and whose results nobody has taken, can be found by their ids:
  /// the last ones. A task_handle keeps its task in any case.
  std::size_t keep_results = 1024;
  /// For how long. It is looked at when others end.
  std::chrono::steady_clock::duration keep_for = std::chrono::steady_clock::duration::max();
};

/// Thrown when a task is to depend on another one that depends on it.
class WEFT_API task_cycle : public std::logic_error {
 public:
  /// Names the tasks of the cycle: each waits for the next, the last for the first.
  task_cycle(const std::string& what, std::vector<task_id> tasks);
  task_cycle(const task_cycle&) = default;
  ~task_cycle() override;

  const std::vector<task_id>& tasks() const noexcept { return tasks_; }

 private:
  std::vector<task_id> tasks_;
};

}  // namespace WEFT_NAMESPACE
