// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/descriptors.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace WEFT_NAMESPACE::detail {

static_assert(close_received_on_exec == MSG_CMSG_CLOEXEC);

void descriptor_message::put(message_header& header, std::span<const int> descriptors) noexcept {
  static_assert(capacity == CMSG_SPACE(max_descriptors * sizeof(int)));
  if (descriptors.empty())
    return;
  auto* control = reinterpret_cast<cmsghdr*>(bytes_);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(control), descriptors.data(), descriptors.size_bytes());
  header.control = bytes_;
  header.control_size = CMSG_SPACE(descriptors.size_bytes());
}

void descriptor_message::make_room(message_header& header) noexcept {
  header.control = bytes_;
  header.control_size = capacity;
}

std::size_t descriptor_message::take(message_header& header, std::span<int> room) noexcept {
  auto* native = reinterpret_cast<msghdr*>(&header);
  std::size_t taken = 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(native); c && c->cmsg_len >= sizeof(cmsghdr);
       c = CMSG_NXTHDR(native, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i != count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      if (taken < room.size())
        room[taken++] = fd;
      else
        ::close(fd);
    }
  }
  header.control_size = 0;
  return taken;
}

}  // namespace WEFT_NAMESPACE::detail
