// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/service_names.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

#include <weft/base/socket_constants.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

struct service_line {
  std::vector<std::string> names;
  std::uint16_t port;
  std::string protocol;
};

/// The next line that holds a service; lines that make no sense are passed over.
std::optional<service_line> next_service(std::istream& services) {
  std::string line;
  while (std::getline(services, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    service_line result;
    std::string word, port;
    if (!(words >> word >> port))
      continue;
    const std::size_t slash = port.find('/');
    const auto number = parse_port(std::string_view(port).substr(0, slash));
    if (slash == std::string::npos || !number)
      continue;
    result.port = *number;
    result.protocol = port.substr(slash + 1);
    do
      result.names.push_back(word);
    while (words >> word);
    return result;
  }
  return std::nullopt;
}

std::string_view protocol_of(int socket_type) noexcept {
  return socket_type == os::sock_stream ? "tcp" : socket_type == os::sock_dgram ? "udp" : "";
}

}  // namespace

std::optional<std::uint16_t> find_service_port(std::istream& services, std::string_view name,
                                               std::string_view protocol) {
  while (const auto line = next_service(services))
    if (line->protocol == protocol &&
        std::find(line->names.begin(), line->names.end(), name) != line->names.end())
      return line->port;
  return std::nullopt;
}

std::optional<std::string> find_service_name(std::istream& services, std::uint16_t port,
                                             std::string_view protocol) {
  while (const auto line = next_service(services))
    if (line->port == port && line->protocol == protocol)
      return line->names.front();
  return std::nullopt;
}

std::optional<std::uint16_t> service_port(std::string_view name, int socket_type) {
  std::ifstream services("/etc/services");
  return find_service_port(services, name, protocol_of(socket_type));
}

std::optional<std::string> service_name(std::uint16_t port, int socket_type) {
  std::ifstream services("/etc/services");
  return find_service_name(services, port, protocol_of(socket_type));
}

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (status != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return port;
}

}  // namespace WEFT_NAMESPACE::detail
