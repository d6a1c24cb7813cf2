// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Marks, as std::allocator_arg_t does for allocators, a constructor whose next argument is an
/// executor.
struct executor_arg_t {
  constexpr explicit executor_arg_t() noexcept = default;
};
inline constexpr executor_arg_t executor_arg{};

/// Whether objects of type `T` can be constructed with an executor, given as
/// `T(executor_arg, ex, ...)`. A program may specialise it as std::true_type for its own types.
template <class T, class Executor>
struct uses_executor : std::false_type {};
template <class T, class Executor>
inline constexpr bool uses_executor_v = uses_executor<T, Executor>::value;

}  // namespace WEFT_NAMESPACE
