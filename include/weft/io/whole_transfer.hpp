// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// How a stream reads, or writes, all of one buffer as a single operation, which goes on by itself
/// until all is done, where a composed one is started anew, and dispatched, for each part.
/// Specialised for streams of the library's own, with
///   static void start(Stream&, const mutable_buffer&, Handler&)    reads
///   static void start(Stream&, const const_buffer&, Handler&)      writes
/// that call `handler(ec, bytes)` as async_read and async_write promise.
template <class Stream>
struct whole_transfer;

template <class Stream>
concept transfers_whole = requires { sizeof(whole_transfer<Stream>); };

}  // namespace WEFT_NAMESPACE::detail
