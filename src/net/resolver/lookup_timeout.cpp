// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/lookup_timeout.hpp"

#include <memory>

#include <weft/base/operation_memory.hpp>

#include "net/resolver/resolver_service.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

using timeout_owner = operation_owner<lookup_timeout, std::allocator<void>>;

}  // namespace

void lookup_timeout::start(timer_state& timer, resolver_service& service) {
  timeout_owner op(std::in_place, std::allocator<void>(), timer, service);
  timer.start(op.release());
}

void lookup_timeout::complete(operation* base, action what) {
  if (what == action::describe)
    return describe<lookup_timeout>(base, true);
  auto* self = static_cast<lookup_timeout*>(base);
  timeout_owner op(self, std::allocator<void>());
  if (what == action::destroy)
    return;
  resolver_service& service = self->service_;
  const auto [ec] = self->take_results();
  op.reset();
  if (!ec)
    service.on_timeout();
}

}  // namespace WEFT_NAMESPACE::detail
