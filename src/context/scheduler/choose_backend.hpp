// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <weft/context/backend_kind.hpp>

namespace WEFT_NAMESPACE::detail {

/// The backend for a new context: the one asked for, else the one its configuration names, else the
/// one the environment names, else the default. Throws operation_not_supported for one that is
/// unavailable, invalid_argument for an unknown name.
backend_kind choose_backend(backend_kind asked, std::string_view configured = {});

}  // namespace WEFT_NAMESPACE::detail
