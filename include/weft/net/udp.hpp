// SPDX-License-Identifier: BSL-1.0
#pragma once

// All of ip::udp: protocol, socket, resolver.
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/udp_protocol.hpp>
