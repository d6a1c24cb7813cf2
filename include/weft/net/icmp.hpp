// SPDX-License-Identifier: BSL-1.0
#pragma once

// All of ip::icmp: protocol, socket, resolver.
#include <weft/net/basic_raw_socket.hpp>
#include <weft/net/icmp_protocol.hpp>
#include <weft/net/resolver.hpp>
