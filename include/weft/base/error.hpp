// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE::error {

/// Errors of the operating system, by their portable names. They compare equal to an error_code
/// that a call returned.
enum basic_errors {
  access_denied = EACCES,
  address_family_not_supported = EAFNOSUPPORT,
  address_in_use = EADDRINUSE,
  already_connected = EISCONN,
  already_started = EALREADY,
  broken_pipe = EPIPE,
  connection_aborted = ECONNABORTED,
  connection_refused = ECONNREFUSED,
  connection_reset = ECONNRESET,
  bad_descriptor = EBADF,
  fault = EFAULT,
  host_unreachable = EHOSTUNREACH,
  in_progress = EINPROGRESS,
  interrupted = EINTR,
  invalid_argument = EINVAL,
  message_size = EMSGSIZE,
  name_too_long = ENAMETOOLONG,
  network_down = ENETDOWN,
  network_reset = ENETRESET,
  network_unreachable = ENETUNREACH,
  no_descriptors = EMFILE,
  no_buffer_space = ENOBUFS,
  no_memory = ENOMEM,
  no_permission = EPERM,
  no_protocol_option = ENOPROTOOPT,
  no_such_device = ENODEV,
  not_connected = ENOTCONN,
  not_socket = ENOTSOCK,
  operation_aborted = ECANCELED,
  operation_not_supported = EOPNOTSUPP,
  shut_down = ESHUTDOWN,
  timed_out = ETIMEDOUT,
  try_again = EAGAIN,
  would_block = EWOULDBLOCK
};

/// Failures of a name lookup (the h_errno values of <netdb.h>).
enum netdb_errors {
  host_not_found = 1,
  host_not_found_try_again = 2,
  no_recovery = 3,
  no_data = 4
};

/// Failures of a service lookup (the EAI_ values of <netdb.h>, glibc and musl).
enum addrinfo_errors { service_not_found = -8, socket_type_not_supported = -7 };

/// Errors of the library itself.
enum misc_errors {
  already_open = 1,  ///< The object is open already.
  eof,               ///< End of file or stream: the peer has finished sending.
  not_found,         ///< A search found nothing.
  fd_set_failure,    ///< A descriptor does not fit an fd_set.
  would_deadlock     ///< A thread of a loop was about to wait for what that loop has yet to do.
};

inline const error_category& get_system_category() noexcept {
  return WEFT_NAMESPACE::system_category();
}
WEFT_API const error_category& get_netdb_category() noexcept;
WEFT_API const error_category& get_addrinfo_category() noexcept;
WEFT_API const error_category& get_misc_category() noexcept;

/// The same categories as objects; a static object's constructor prefers the functions.
WEFT_API extern const error_category& system_category;
WEFT_API extern const error_category& netdb_category;
WEFT_API extern const error_category& addrinfo_category;
WEFT_API extern const error_category& misc_category;

/// Makes it say success, in the category that it has.
inline void clear(error_code& ec) {
  ec.assign(0, ec.category());
}

inline error_code make_error_code(basic_errors e) noexcept {
  return {static_cast<int>(e), get_system_category()};
}
inline error_code make_error_code(netdb_errors e) noexcept {
  return {static_cast<int>(e), get_netdb_category()};
}
inline error_code make_error_code(addrinfo_errors e) noexcept {
  return {static_cast<int>(e), get_addrinfo_category()};
}
inline error_code make_error_code(misc_errors e) noexcept {
  return {static_cast<int>(e), get_misc_category()};
}

}  // namespace WEFT_NAMESPACE::error

// The same errors by the names that the Networking TS has for them.
namespace WEFT_NAMESPACE::stream_errc {
using error::eof;
using error::not_found;
}  // namespace WEFT_NAMESPACE::stream_errc

namespace WEFT_NAMESPACE::socket_errc {
using error::already_open;
using error::not_found;
}  // namespace WEFT_NAMESPACE::socket_errc

namespace WEFT_NAMESPACE::resolver_errc {
using error::host_not_found;
using error::host_not_found_try_again;
using error::service_not_found;
}  // namespace WEFT_NAMESPACE::resolver_errc

template <>
struct std::is_error_code_enum<WEFT_NAMESPACE::error::basic_errors> : std::true_type {};
template <>
struct std::is_error_code_enum<WEFT_NAMESPACE::error::netdb_errors> : std::true_type {};
template <>
struct std::is_error_code_enum<WEFT_NAMESPACE::error::addrinfo_errors> : std::true_type {};
template <>
struct std::is_error_code_enum<WEFT_NAMESPACE::error::misc_errors> : std::true_type {};
