// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/deferred.hpp>
#include <weft/base/type_name.hpp>

namespace WEFT_NAMESPACE::detail {

/// The type that a task which waits for an `Operation` is said to wait for.
template <class Operation>
struct awaited_type {
  using type = Operation;
};
template <class Signature, class Initiation, class... Args>
struct awaited_type<deferred_async_operation<Signature, Initiation, Args...>> {
  using type = Initiation;
};

template <class Operation>
constexpr const char* awaited_type_text() noexcept {
  return type_text<typename awaited_type<Operation>::type>();
}

}  // namespace WEFT_NAMESPACE::detail
