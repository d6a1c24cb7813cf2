// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include <weft/base/owned_pointer.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/process/exit_status.hpp>
#include <weft/io/process/spawn_options.hpp>

namespace WEFT_NAMESPACE::detail {

class child_record;

struct child_record_deleter {
  WEFT_API void operator()(child_record* record) const noexcept;
};

/// Waits until a child has ended: by readiness of its pidfd, and waitid(P_PIDFD).
class WEFT_API exit_operation : public io_operation {
 public:
  exit_operation(function f, scheduler& owner, child_record* record) noexcept
      : io_operation(f, owner, exit_kind, io_queue::read), record_(record) {}

  operation_results<error_code, process::exit_status> take_results() noexcept {
    return {ec, status_};
  }

 protected:
  ~exit_operation() = default;

 private:
  static io_status perform(io_operation& op) noexcept;
  static const io_kind exit_kind;

  child_record* record_;
  process::exit_status status_;
};

/// A child process, or none: its pidfd, and its status once it is known.
class WEFT_API child_state {
 public:
  explicit child_state(execution_context& context) : handle_(context) {}
  child_state(child_state&&) noexcept = default;
  child_state& operator=(child_state&& other) noexcept;
  ~child_state() { end(); }

  /// Starts a program. The object must have no child.
  error_code spawn(const std::string& program, const std::vector<std::string>& arguments,
                   const process::spawn_options& options) noexcept;

  bool is_open() const noexcept { return static_cast<bool>(record_); }
  io_handle& handle() noexcept { return handle_; }
  const io_handle& handle() const noexcept { return handle_; }
  child_record* record() noexcept { return record_.get(); }

  int id() const noexcept;
  bool is_running(error_code& ec) noexcept;
  process::exit_status wait(error_code& ec) noexcept;
  error_code send_signal(int signal_number) noexcept;
  /// Lets go of the child, which runs on.
  void detach() noexcept;
  /// Kills the child if it still runs, and takes its status.
  void end() noexcept;

 private:
  error_code watch() noexcept;

  io_handle handle_;  // closed before the record goes, which its operations use
  owned_pointer<child_record, child_record_deleter> record_;
};

}  // namespace WEFT_NAMESPACE::detail
