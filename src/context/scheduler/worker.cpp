// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/worker.hpp"

namespace WEFT_NAMESPACE::detail {

constinit thread_local worker* worker::innermost_ = nullptr;

worker::worker(scheduler& owner, bool biased) noexcept
    : owner_(owner), outer_(innermost_), lock_(biased) {
  innermost_ = this;
}

worker::~worker() {
  innermost_ = outer_;
}

worker_counts worker::counts() const noexcept {
  return {.run = ran(),
          .queued = local_.pushed(),
          .from_outside = from_outside_.value(),
          .events = events_.value(),
          .steal_attempts = steal_attempts_.value(),
          .steals = steals_.value(),
          .stolen = stolen_.value(),
          .polls = polls_.value(),
          .parks = parks_.value(),
          .wakeups = wakeups_.value()};
}

}  // namespace WEFT_NAMESPACE::detail
