// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/this_fiber.hpp>

#include "coro/fiber/overflow.hpp"

namespace WEFT_NAMESPACE::this_fiber {

id get_id() noexcept {
  return detail::running_fiber();
}

std::size_t stack_left() noexcept {
  const detail::fiber_base* const fiber = detail::running_fiber();
  if (!fiber)
    return 0;
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - static_cast<const char*>(fiber->context().limit()));
}

std::source_location where_spawned() noexcept {
  const detail::fiber_base* const fiber = detail::running_fiber();
  return fiber ? fiber->where_spawned() : std::source_location();
}

}  // namespace WEFT_NAMESPACE::this_fiber
