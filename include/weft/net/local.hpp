// SPDX-License-Identifier: BSL-1.0
#pragma once

// UNIX-domain protocols with their sockets, acceptors and pairs.
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_seq_packet_socket.hpp>
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local_protocol.hpp>
