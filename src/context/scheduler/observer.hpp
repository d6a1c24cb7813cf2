// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// One who looks at a scheduler's workers from time to time, but not while all sleep.
class observer {
 public:
  /// A worker is awake again. Called once for each time that scheduler::all_asleep has returned
  /// true, under the scheduler's mutex.
  virtual void on_awake() noexcept = 0;

 protected:
  ~observer() = default;

 private:
  friend class scheduler;

  // Guarded by the scheduler's mutex.
  observer* next_ = nullptr;
  bool waits_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
