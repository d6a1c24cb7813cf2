// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/choose_backend.hpp"

#include <cstdlib>
#include <string_view>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

backend_kind from_name(std::string_view name, const char* where) {
  if (name.empty() || name == "automatic")
    return backend_kind::automatic;
  if (name == "epoll")
    return backend_kind::epoll;
  if (name == "uring")
    return backend_kind::uring;
  throw_error(make_error_code(error::invalid_argument), where);
}

backend_kind from_environment() {
  const char* value = std::getenv("WEFT_BACKEND");
  return from_name(value ? value : "", "WEFT_BACKEND: not epoll or uring");
}

}  // namespace

backend_kind choose_backend(backend_kind asked, std::string_view configured) {
  if (asked == backend_kind::automatic)
    asked = from_name(configured, "backend.kind: not epoll or uring");
  if (asked == backend_kind::automatic)
    asked = from_environment();
  // On every kind of context: docs/backends.md has the figures.
  if (asked == backend_kind::automatic)
    return backend_kind::epoll;
  if (!backend_available(asked))
    throw_error(make_error_code(error::operation_not_supported),
                "the io_uring backend needs Linux 6.0 and a system that permits io_uring");
  return asked;
}

}  // namespace WEFT_NAMESPACE::detail
