// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/basic_socket_iostream.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/tcp.hpp>
