// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::process {

/// How a process ended: by itself, with a code, or by a signal.
class exit_status {
 public:
  constexpr exit_status() noexcept = default;
  static constexpr exit_status exited(int code) noexcept { return {code, 0, false}; }
  static constexpr exit_status killed(int signal_number, bool core_dumped) noexcept {
    return {0, signal_number, core_dumped};
  }

  /// Whether it ended by itself with code 0.
  constexpr bool success() const noexcept { return code_ == 0 && signal_number_ == 0; }
  /// What it returned from main or gave to exit(3), 0 to 255; 0 if a signal ended it.
  constexpr int code() const noexcept { return code_; }
  /// The signal that ended it; 0 if none did.
  constexpr int signal_number() const noexcept { return signal_number_; }
  /// Whether the signal left a core dump.
  constexpr bool core_dumped() const noexcept { return core_dumped_; }

  friend constexpr bool operator==(const exit_status&, const exit_status&) noexcept = default;

 private:
  constexpr exit_status(int code, int signal_number, bool core_dumped) noexcept
      : code_(code), signal_number_(signal_number), core_dumped_(core_dumped) {}

  int code_ = 0;
  int signal_number_ = 0;
  bool core_dumped_ = false;
};

}  // namespace WEFT_NAMESPACE::process
