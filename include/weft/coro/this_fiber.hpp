// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <source_location>

#include <weft/base/config.hpp>
#include <weft/coro/yield_context.hpp>

/// About the fiber that calls: for code that was not given its yield_context.
namespace WEFT_NAMESPACE::this_fiber {

/// Tells a fiber from all others that live. Null: the caller is no fiber.
using id = const void*;

/// The calling fiber.
WEFT_API id get_id() noexcept;

/// How many bytes of its stack are left to it; 0 if the caller is no fiber.
WEFT_API std::size_t stack_left() noexcept;

/// Where it was spawned; an empty place if the caller is no fiber.
WEFT_API std::source_location where_spawned() noexcept;

/// Lets others have their turn, as `y.yield()` does.
template <class Executor>
[[gnu::always_inline]] inline void yield(const basic_yield_context<Executor>& y) {
  y.yield();
}

}  // namespace WEFT_NAMESPACE::this_fiber
