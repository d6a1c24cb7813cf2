// SPDX-License-Identifier: BSL-1.0
#include <weft/net/host_name.hpp>

#include <cerrno>

#include <unistd.h>

namespace WEFT_NAMESPACE::ip {

std::string host_name(error_code& ec) {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) {
    ec = detail::errno_code(errno);
    return {};
  }
  ec.clear();
  return name;
}

std::string host_name() {
  error_code ec;
  std::string name = host_name(ec);
  detail::throw_if(ec, "host_name");
  return name;
}

}  // namespace WEFT_NAMESPACE::ip
