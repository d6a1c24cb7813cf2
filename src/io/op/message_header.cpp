// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/message_header.hpp>

#include <cstddef>

#include <sys/socket.h>

namespace WEFT_NAMESPACE::detail {

static_assert(sizeof(message_header) == sizeof(msghdr));
static_assert(alignof(message_header) == alignof(msghdr));
static_assert(offsetof(message_header, name) == offsetof(msghdr, msg_name));
static_assert(offsetof(message_header, name_size) == offsetof(msghdr, msg_namelen));
static_assert(offsetof(message_header, vectors) == offsetof(msghdr, msg_iov));
static_assert(offsetof(message_header, count) == offsetof(msghdr, msg_iovlen));
static_assert(offsetof(message_header, control) == offsetof(msghdr, msg_control));
static_assert(offsetof(message_header, control_size) == offsetof(msghdr, msg_controllen));
static_assert(offsetof(message_header, flags) == offsetof(msghdr, msg_flags));
static_assert(sizeof(message_header::name_size) == sizeof(socklen_t));
static_assert(sizeof(message_header::count) == sizeof(msghdr::msg_iovlen));
static_assert(sizeof(message_header::control_size) == sizeof(msghdr::msg_controllen));

}  // namespace WEFT_NAMESPACE::detail
