// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_registration.hpp>

namespace WEFT_NAMESPACE::detail {

const void* register_buffers(execution_context&, const mutable_buffer*, std::size_t) {
  return nullptr;
}

void unregister_buffers(execution_context&, const void*) noexcept {}

}  // namespace WEFT_NAMESPACE::detail
