// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/experimental/basic_concurrent_channel.hpp>
#include <weft/experimental/channel.hpp>

namespace WEFT_NAMESPACE::experimental {

/// A channel of messages with these signatures, before which an executor type may stand.
template <class ExecutorOrSignature, class... Signatures>
using concurrent_channel = typename detail::channel_type<basic_concurrent_channel,
                                                         ExecutorOrSignature, Signatures...>::type;

}  // namespace WEFT_NAMESPACE::experimental
