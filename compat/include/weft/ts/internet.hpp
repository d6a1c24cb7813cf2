// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/address.hpp>
#include <weft/net/address_iterator.hpp>
#include <weft/net/address_range.hpp>
#include <weft/net/address_v4.hpp>
#include <weft/net/address_v6.hpp>
#include <weft/net/bad_address_cast.hpp>
#include <weft/net/basic_socket_iostream.hpp>
#include <weft/net/host_name.hpp>
#include <weft/net/multicast.hpp>
#include <weft/net/network_v4.hpp>
#include <weft/net/network_v6.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>
#include <weft/net/unicast.hpp>
#include <weft/net/v6_only.hpp>
