// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/experimental/basic_channel.hpp>

namespace WEFT_NAMESPACE::experimental {
namespace detail {

template <template <class...> class Channel, class First, class... More>
struct channel_type {
  using type = Channel<First, channel_traits<>, More...>;  // First is an executor
};
template <template <class...> class Channel, class R, class... Args, class... More>
struct channel_type<Channel, R(Args...), More...> {
  using type = Channel<any_io_executor, channel_traits<>, R(Args...), More...>;
};

}  // namespace detail

/// A channel of messages with these signatures, before which an executor type may stand.
template <class ExecutorOrSignature, class... Signatures>
using channel =
    typename detail::channel_type<basic_channel, ExecutorOrSignature, Signatures...>::type;

}  // namespace WEFT_NAMESPACE::experimental
