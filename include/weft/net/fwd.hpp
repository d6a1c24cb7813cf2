// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <weft/base/config.hpp>

// The templates that protocol classes name in their nested types. The default template arguments
// are given here and nowhere else; the header of each template includes this one.
namespace WEFT_NAMESPACE {

class any_io_executor;

template <class Clock>
struct wait_traits;

template <class Protocol, class Executor = any_io_executor>
class basic_socket;
template <class Protocol, class Executor = any_io_executor>
class basic_stream_socket;
template <class Protocol, class Executor = any_io_executor>
class basic_datagram_socket;
template <class Protocol, class Executor = any_io_executor>
class basic_seq_packet_socket;
template <class Protocol, class Executor = any_io_executor>
class basic_raw_socket;
template <class Protocol, class Executor = any_io_executor>
class basic_socket_acceptor;
template <class Protocol, class Clock = std::chrono::steady_clock,
          class WaitTraits = wait_traits<Clock>>
class basic_socket_streambuf;
template <class Protocol, class Clock = std::chrono::steady_clock,
          class WaitTraits = wait_traits<Clock>>
class basic_socket_iostream;

namespace ip {

class address;
class address_v4;
class address_v6;
class network_v4;
class network_v6;

template <class InternetProtocol>
class basic_endpoint;
template <class InternetProtocol>
class basic_resolver_entry;
template <class InternetProtocol>
class basic_resolver_iterator;
template <class InternetProtocol>
class basic_resolver_results;
template <class InternetProtocol, class Executor = any_io_executor>
class basic_resolver;

}  // namespace ip

namespace local {

template <class Protocol>
class basic_endpoint;

}  // namespace local

namespace generic {

template <class Protocol>
class basic_endpoint;

}  // namespace generic
}  // namespace WEFT_NAMESPACE
