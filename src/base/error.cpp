// SPDX-License-Identifier: BSL-1.0
#include <weft/base/error.hpp>

#include <netdb.h>

#include <string>

#include "base/never_destroyed.hpp"

namespace WEFT_NAMESPACE {

namespace detail {

void throw_error(const error_code& ec, const char* where) {
  throw system_error(ec, where);
}

std::exception_ptr exception_of(const error_code& ec, const char* where) noexcept {
  try {
    return std::make_exception_ptr(where ? system_error(ec, where) : system_error(ec));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace detail

namespace error {
namespace {

static_assert(host_not_found == HOST_NOT_FOUND && host_not_found_try_again == TRY_AGAIN);
static_assert(no_recovery == NO_RECOVERY && no_data == NO_DATA);
static_assert(service_not_found == EAI_SERVICE && socket_type_not_supported == EAI_SOCKTYPE);

class netdb_messages final : public error_category {
 public:
  const char* name() const noexcept override { return "weft.netdb"; }
  std::string message(int value) const override {
    switch (value) {
      case host_not_found: return "Host not found (authoritative)";
      case host_not_found_try_again: return "Host not found (non-authoritative), try again later";
      case no_recovery: return "A non-recoverable error occurred during a name lookup";
      case no_data: return "The query is valid, but it has no associated data";
      default: return "weft.netdb error";
    }
  }
};

class addrinfo_messages final : public error_category {
 public:
  const char* name() const noexcept override { return "weft.addrinfo"; }
  std::string message(int value) const override {
    switch (value) {
      case service_not_found: return "Service not found";
      case socket_type_not_supported: return "Socket type not supported";
      default: return "weft.addrinfo error";
    }
  }
};

class misc_messages final : public error_category {
 public:
  const char* name() const noexcept override { return "weft.misc"; }
  std::string message(int value) const override {
    switch (value) {
      case already_open: return "Already open";
      case eof: return "End of file";
      case not_found: return "Element not found";
      case fd_set_failure: return "The descriptor does not fit into the select call's fd_set";
      case would_deadlock:
        return "The thread runs the loop that it would wait for: attach a callback, or co_await";
      default: return "weft.misc error";
    }
  }
};

}  // namespace

constinit const detail::never_destroyed<netdb_messages> netdb_instance;

const error_category& get_netdb_category() noexcept {
  return netdb_instance.object;
}

constinit const detail::never_destroyed<addrinfo_messages> addrinfo_instance;

const error_category& get_addrinfo_category() noexcept {
  return addrinfo_instance.object;
}

constinit const detail::never_destroyed<misc_messages> misc_instance;

const error_category& get_misc_category() noexcept {
  return misc_instance.object;
}

const error_category& system_category = get_system_category();
const error_category& netdb_category = get_netdb_category();
const error_category& addrinfo_category = get_addrinfo_category();
const error_category& misc_category = get_misc_category();

}  // namespace error
}  // namespace WEFT_NAMESPACE
