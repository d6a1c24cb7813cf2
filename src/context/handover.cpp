// SPDX-License-Identifier: BSL-1.0
#include <weft/context/handover.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

constinit thread_local handover* innermost = nullptr;

}  // namespace

handover::handover(operation* op) noexcept : op_(op), outer_(innermost) {
  innermost = this;
}

handover::~handover() {
  innermost = outer_;
}

bool handover::end(operation* op, bool returns) noexcept {
  for (handover* h = innermost; h; h = h->outer_)
    if (h->op_ == op) {
      h->op_ = nullptr;
      h->is_returned_ = returns;
      return returns;
    }
  return false;
}

}  // namespace WEFT_NAMESPACE::detail
