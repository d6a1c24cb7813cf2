// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

// The services file is parsed here instead of by getservbyname(3), which may ask a directory server
// and block. Format: services(5), one "name port/protocol alias... # comment" per line.

/// The port of a service or of one of its aliases; `protocol` is "tcp" or "udp".
std::optional<std::uint16_t> find_service_port(std::istream& services, std::string_view name,
                                               std::string_view protocol);

/// The name of the service at a port.
std::optional<std::string> find_service_name(std::istream& services, std::uint16_t port,
                                             std::string_view protocol);

/// The same, of /etc/services. The protocol goes by the type of the socket: there are no services
/// on raw sockets.
std::optional<std::uint16_t> service_port(std::string_view name, int socket_type);
std::optional<std::string> service_name(std::uint16_t port, int socket_type);

/// A decimal port number, 0 to 65535, with nothing around it.
std::optional<std::uint16_t> parse_port(std::string_view text) noexcept;

}  // namespace WEFT_NAMESPACE::detail
