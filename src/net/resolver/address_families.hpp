// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// The IP versions of which some interface has an address other than the loopback one.
struct address_families {
  bool v4 = false;
  bool v6 = false;
};

/// Asks the kernel (getifaddrs(3)); both are true if it does not tell.
address_families configured_families() noexcept;

}  // namespace WEFT_NAMESPACE::detail
