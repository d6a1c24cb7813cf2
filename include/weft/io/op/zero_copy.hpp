// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>
#include <weft/io/op/message_header.hpp>

namespace WEFT_NAMESPACE::detail {

/// Sends with MSG_ZEROCOPY (Linux 4.14) and then waits for the notification, in the socket's error
/// queue, that the kernel has let go of the bytes. Results: (error_code, bytes, copied).
///
/// On io_uring too: IORING_OP_SEND_ZC cannot be taken back while a peer does not read, so closing
/// the socket would wait for that peer.
class WEFT_API zero_copy_operation : public io_operation {
 public:
  operation_results<error_code, std::size_t, bool> take_results() noexcept {
    return {ec, bytes, copied};
  }

  message_header header;
  int flags;
  bool copied = true;         ///< The kernel has made a copy after all.
  bool sent = false;          ///< What remains is to wait for the notification.
  bool wait_by_time = false;  ///< The descriptor keeps saying "error", so readiness tells nothing.
  std::uint32_t id = 0;       ///< Of the send, as notifications count them.
  bool allowed;               ///< The socket can do it; otherwise it is an ordinary send.
  struct {
    std::int64_t seconds;
    std::int64_t nanoseconds;
  } pause{0, 10'000'000};  ///< Laid out as struct __kernel_timespec.

 protected:
  zero_copy_operation(function f, scheduler& owner, int send_flags, bool allow) noexcept
      : io_operation(f, owner, zero_copy_kind, io_queue::write),
        flags(send_flags),
        allowed(allow) {}
  ~zero_copy_operation() = default;

 private:
  static const io_kind zero_copy_kind;
};

template <class Sequence>
class zero_copy_send_operation : public zero_copy_operation {
 public:
  zero_copy_send_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                           int send_flags, bool allow) noexcept
      : zero_copy_operation(f, owner, send_flags, allow), buffers_(buffers) {
    header.vectors = buffers_.vectors();
    header.count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<const_buffer, Sequence, max_stream_vectors> buffers_;
};

}  // namespace WEFT_NAMESPACE::detail
