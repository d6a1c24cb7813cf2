// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/basic_socket.hpp>
#include <weft/net/local_protocol.hpp>

namespace WEFT_NAMESPACE::local {

/// Opens two sockets that are connected to each other: socketpair(2), close-on-exec. Both have to
/// be closed (else already_open). Fails with no_descriptors ...; then both are closed.
///
///     local::stream_protocol::socket here(context), there(context);
///     local::connect_pair(here, there);
template <class Protocol, class Executor1, class Executor2>
void connect_pair(basic_socket<Protocol, Executor1>& socket1,
                  basic_socket<Protocol, Executor2>& socket2, error_code& ec) {
  if (socket1.is_open() || socket2.is_open()) {
    ec = error::already_open;
    return;
  }
  const Protocol protocol;
  int fds[2];
  ec = detail::make_socket_pair(protocol.family(), protocol.type(), protocol.protocol(), fds);
  if (ec)
    return;
  ec = detail::socket_access::adopt(socket1, protocol, fds[0]);
  if (ec) {
    detail::close_descriptor(fds[0]);
    detail::close_descriptor(fds[1]);
    return;
  }
  ec = detail::socket_access::adopt(socket2, protocol, fds[1]);
  if (ec) {
    error_code ignored;
    socket1.close(ignored);
    detail::close_descriptor(fds[1]);
  }
}
template <class Protocol, class Executor1, class Executor2>
void connect_pair(basic_socket<Protocol, Executor1>& socket1,
                  basic_socket<Protocol, Executor2>& socket2) {
  error_code ec;
  connect_pair(socket1, socket2, ec);
  detail::throw_if(ec, "connect_pair");
}

}  // namespace WEFT_NAMESPACE::local
