// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <iterator>
#include <type_traits>
#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// True where what the iterator passes over lies in one piece.
template <class T>
struct is_contiguous_iterator : std::bool_constant<std::contiguous_iterator<T>> {};

}  // namespace WEFT_NAMESPACE
