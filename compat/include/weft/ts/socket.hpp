// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_socket.hpp>
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_socket_iostream.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/socket_base.hpp>
