// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>

struct sockaddr;

namespace WEFT_NAMESPACE::detail {

/// Connects a socket: connect(2) on a non-blocking descriptor, or IORING_OP_CONNECT (Linux 5.5).
/// The derived class keeps the address.
class WEFT_API connect_operation : public status_operation {
 public:
  const sockaddr* address = nullptr;
  std::size_t address_size = 0;
  bool under_way = false;  ///< The system is connecting: its answer comes with writability.

 protected:
  connect_operation(function f, scheduler& owner) noexcept
      : status_operation(f, owner, connect_kind, io_queue::write) {}
  ~connect_operation() = default;

 private:
  static const io_kind connect_kind;
};

template <class Endpoint>
class connect_to_operation : public connect_operation {
 public:
  connect_to_operation(operation::function f, scheduler& owner, const Endpoint& peer) noexcept
      : connect_operation(f, owner), peer_(peer) {
    address = static_cast<const Endpoint&>(peer_).data();
    address_size = peer_.size();
  }

 private:
  Endpoint peer_;
};

}  // namespace WEFT_NAMESPACE::detail
