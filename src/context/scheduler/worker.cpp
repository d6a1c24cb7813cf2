// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/worker.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

constinit thread_local worker* innermost = nullptr;

}  // namespace

worker::worker(scheduler& owner, bool biased) noexcept
    : owner_(owner), outer_(innermost), lock_(biased) {
  innermost = this;
}

worker::~worker() {
  innermost = outer_;
}

worker* worker::current(const scheduler& owner) noexcept {
  worker* w = innermost;
  while (w && &w->owner_ != &owner)
    w = w->outer_;
  return w;
}

}  // namespace WEFT_NAMESPACE::detail
