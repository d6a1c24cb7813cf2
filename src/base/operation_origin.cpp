// SPDX-License-Identifier: BSL-1.0
#include <weft/base/operation_origin.hpp>

namespace WEFT_NAMESPACE::detail {

constinit std::atomic<const origin_hooks*> operation_origin_hooks{nullptr};

}  // namespace WEFT_NAMESPACE::detail
