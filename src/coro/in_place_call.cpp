// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/in_place_call.hpp>

namespace WEFT_NAMESPACE::detail {

constinit thread_local in_place_call* in_place_call::innermost_ = nullptr;
constinit thread_local std::uint64_t in_place_call::last_number_ = 0;

}  // namespace WEFT_NAMESPACE::detail
