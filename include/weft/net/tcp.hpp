// SPDX-License-Identifier: BSL-1.0
#pragma once

// All of ip::tcp: protocol, socket, acceptor, resolver, and connecting. (ip::tcp::iostream brings
// the standard streams, and has a header of its own: <weft/net/basic_socket_iostream.hpp>.)
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/tcp_protocol.hpp>
