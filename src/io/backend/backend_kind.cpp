// SPDX-License-Identifier: BSL-1.0
#include <weft/context/backend_kind.hpp>

#include "io/backend/probe.hpp"

namespace WEFT_NAMESPACE {

const char* to_string(backend_kind kind) noexcept {
  switch (kind) {
    case backend_kind::epoll: return "epoll";
    case backend_kind::uring: return "uring";
    case backend_kind::automatic: break;
  }
  return "automatic";
}

bool backend_available(backend_kind kind) noexcept {
  return kind != backend_kind::uring || detail::uring_available();
}

}  // namespace WEFT_NAMESPACE
