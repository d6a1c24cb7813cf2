// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <span>

#include <weft/coro/fiber/stack_switch.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where the calls go on that lie on a stack that was left at `point`, the innermost first: as many
/// as there is room for. Returns their number. The stack must not be gone on with meanwhile; it is
/// only read, by the unwinder, and nothing is allocated.
std::size_t suspended_calls(const stack_point& point, std::span<void*> calls) noexcept;

}  // namespace WEFT_NAMESPACE::detail
