// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/resolve_request.hpp>

#include "net/resolver/dns_channel.hpp"

namespace WEFT_NAMESPACE::detail {

/// Resolves in the calling thread, which blocks until the answer is there.
resolve_answer resolve_now(resolve_request request, const ip::resolver_options& options);

}  // namespace WEFT_NAMESPACE::detail
