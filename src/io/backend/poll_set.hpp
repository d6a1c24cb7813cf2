// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "io/backend/native_descriptor.hpp"

namespace WEFT_NAMESPACE::detail {

/// What a foreign loop waits on: readable while the backend's own descriptor is, or a time has
/// come. Two system calls at most each time that time is set.
class poll_set {
 public:
  /// Readable at once, so that the loop polls for the first time.
  explicit poll_set(int backend) { restart(backend); }

  int get() const noexcept { return set_.get(); }

  /// Readable in so many nanoseconds; driver::forever: only while the backend's is. Any thread, one
  /// at a time.
  void ready_in(std::int64_t timeout) noexcept;

  /// In the child of a fork: makes new kernel objects, under the number of the old.
  void restart(int backend);

 private:
  native_descriptor set_;
  native_descriptor timer_;
  bool is_set_ = false;  // the timer is
};

}  // namespace WEFT_NAMESPACE::detail
