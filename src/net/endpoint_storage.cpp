// SPDX-License-Identifier: BSL-1.0
#include <weft/net/endpoint_storage.hpp>

#include <algorithm>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {

void throw_endpoint_too_large() {
  throw_error(error::invalid_argument, "endpoint size");
}

std::string ip_endpoint::to_string() const {
  const ip::address host = address();
  const std::string text = host.to_string();
  return (host.is_v6() ? '[' + text + ']' : text) + ':' + std::to_string(port());
}

std::size_t local_endpoint::size() const noexcept {
  // The NUL that ends a path in the file system is there, but does not count.
  return os::sockaddr_un_path + path_length_;
}

void local_endpoint::resize(std::size_t size) {
  if (size > capacity())
    throw_endpoint_too_large();
  path_length_ = size > os::sockaddr_un_path ? size - os::sockaddr_un_path : 0;
  if (!is_abstract())
    path_length_ = std::min(path_length_, path().find('\0'));
}

void local_endpoint::path(std::string_view path) {
  const bool abstract = !path.empty() && path.front() == '\0';
  const std::size_t room = capacity() - os::sockaddr_un_path - (abstract ? 0 : 1);
  if (path.size() > room)
    throw_error(error::name_too_long, "local endpoint path");
  bytes_ = {};
  bytes_.family(os::af_unix);
  bytes_.copy_in(os::sockaddr_un_path, path.data(), path.size());
  path_length_ = path.size();
}

}  // namespace WEFT_NAMESPACE::detail
