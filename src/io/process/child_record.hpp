// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>
#include <optional>

#include <weft/base/error_code.hpp>
#include <weft/io/process/exit_status.hpp>

namespace WEFT_NAMESPACE::detail {

/// A child: its pidfd, and its status once it is known. It can be reaped once; whoever does that
/// leaves the status here for the others. The descriptor is not the one that the I/O driver
/// watches, which it closes when its context ends: the child is to be ended even then.
/// Lock order: an I/O object before a record.
class child_record {
 public:
  child_record() = default;
  child_record(const child_record&) = delete;
  child_record& operator=(const child_record&) = delete;
  ~child_record();

  // Written once, before the record is used.
  int id = -1;
  int pidfd = -1;

  /// Reaps the child if it has ended. Returns whether its status is known, or cannot be: then
  /// there is an error.
  bool settle(process::exit_status& status, error_code& ec) noexcept;

  /// Waits for the end of the child.
  process::exit_status wait(error_code& ec) noexcept;

  /// Does nothing to a child that has ended.
  error_code send_signal(int signal_number) noexcept;

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<process::exit_status> status_;
  error_code error_;
};

}  // namespace WEFT_NAMESPACE::detail
