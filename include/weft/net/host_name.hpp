// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE::ip {

/// The name of this host, as gethostname(2) tells it. On failure `ec` says why and the name is
/// empty; the form without an error_code throws system_error.
WEFT_API std::string host_name(error_code& ec);
WEFT_API std::string host_name();

}  // namespace WEFT_NAMESPACE::ip
