// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_registration.hpp>

#include <weft/io/io_handle.hpp>

#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE::detail {

const void* register_buffers(execution_context& context, const mutable_buffer* buffers,
                             std::size_t count) {
  // A context that is not the library's gets an epoll driver.
  if (!has_service<scheduler>(context) ||
      use_scheduler(context).options().backend != backend_kind::uring)
    return nullptr;
  return use_io_driver(context).register_buffers(buffers, count);
}

void unregister_buffers(execution_context& context, const void* scope) noexcept {
  use_io_driver(context).unregister_buffers(scope);
}

}  // namespace WEFT_NAMESPACE::detail
