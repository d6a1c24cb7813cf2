// SPDX-License-Identifier: BSL-1.0
#pragma once

// Sockets of any protocol.
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_raw_socket.hpp>
#include <weft/net/basic_seq_packet_socket.hpp>
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/generic_protocol.hpp>
