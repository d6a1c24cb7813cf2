// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Whether a stream, or a layer below it, keeps bytes that it read but nobody asked for yet.
template <class Stream>
struct is_read_buffered : std::false_type {};

/// Whether a stream, or a layer below it, keeps bytes that were written to it until it is flushed.
template <class Stream>
struct is_write_buffered : std::false_type {};

}  // namespace WEFT_NAMESPACE
