// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/message_header.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether sendto(2) or recvfrom(2), which are cheaper, do what sendmsg(2) or recvmsg(2) would.
inline bool is_one_buffer_with_address(const message_header& header) noexcept {
  return header.name && header.count == 1 && !header.control;
}

}  // namespace WEFT_NAMESPACE::detail
