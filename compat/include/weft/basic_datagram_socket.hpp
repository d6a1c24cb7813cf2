// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/basic_datagram_socket.hpp>
