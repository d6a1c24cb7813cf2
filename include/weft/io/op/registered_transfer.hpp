// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/registered_buffer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether a buffer sequence is one registered buffer.
template <class Sequence>
inline constexpr bool is_registered_buffer = std::is_same_v<Sequence, mutable_registered_buffer> ||
                                             std::is_same_v<Sequence, const_registered_buffer>;

/// What an operation on a registered buffer has besides. Guarded by the object's lock.
struct registered_transfer {
  const void* scope;     ///< As register_buffers returned it.
  int index;             ///< Of the buffer in its registration.
  bool fixed = false;    ///< What is submitted names the registered buffer.
  bool refused = false;  ///< The kernel would not have that: it is an ordinary buffer from here on.

  template <class RegisteredBuffer>
  explicit registered_transfer(const RegisteredBuffer& b) noexcept
      : scope(b.size() == 0 ? nullptr : registered_buffer_access::scope(b.id())),
        index(b.id().native_handle()) {}

  /// Whether some backend has taken the registration. Without, the operation is an ordinary one.
  bool is_effective() const noexcept { return scope != nullptr; }
};

}  // namespace WEFT_NAMESPACE::detail
