// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/datagram_batch.hpp>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include <weft/base/error.hpp>

#include "io/op/destination.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// The messages of one system call, kept on the stack; a longer batch takes several.
constexpr std::size_t max_messages = 64;

/// So many system calls in one attempt, and others get their turn: the object is locked meanwhile.
constexpr std::size_t max_calls = 4;

// ---- receiving

/// Room for the segment size and for what the system puts before it, if the user has asked for
/// that: SO_TIMESTAMPNS, SO_TIMESTAMPING (three time stamps) and its SOF_TIMESTAMPING_OPT_PKTINFO,
/// SO_RXQ_OVFL, SO_RCVMARK, SO_RCVPRIORITY. What comes after it (IP_PKTINFO and its like) is cut.
constexpr std::size_t control_capacity =
    CMSG_SPACE(sizeof(int)) + CMSG_SPACE(2 * sizeof(std::int64_t)) +
    CMSG_SPACE(6 * sizeof(std::int64_t)) + CMSG_SPACE(4 * sizeof(std::uint32_t)) +
    3 * CMSG_SPACE(sizeof(std::uint32_t));

/// The segment size that ancillary data tells, or `otherwise`.
std::size_t segment_size_of(msghdr& header, std::size_t otherwise) noexcept {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
    if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
      int size = 0;
      std::memcpy(&size, CMSG_DATA(c), sizeof(size));
      return static_cast<std::size_t>(size);
    }
  return otherwise;
}

class receive_call {
 public:
  receive_call(const incoming_batch& batch, std::size_t from) noexcept
      : batch_(batch), from_(from), count_(std::min(batch.count - from, max_messages)) {
    for (std::size_t i = 0; i != count_; ++i) {
      const datagram_room room = batch.room(batch.first, from + i);
      vectors_[i] = {room.buffer.data(), room.buffer.size()};
      messages_[i] = {};
      msghdr& header = messages_[i].msg_hdr;
      header.msg_name = room.name;
      header.msg_namelen = static_cast<socklen_t>(room.name_capacity);
      header.msg_iov = &vectors_[i];
      header.msg_iovlen = 1;
      if (batch.internet) {
        header.msg_control = control_[i];
        header.msg_controllen = control_capacity;
      }
    }
  }

  std::size_t count() const noexcept { return count_; }

  int operator()(int fd, int flags) noexcept {
    return retry_interrupted(
        [&] { return ::recvmmsg(fd, messages_, static_cast<unsigned>(count_), flags, nullptr); });
  }

  void store(std::size_t received) noexcept {
    for (std::size_t i = 0; i != received; ++i) {
      msghdr& header = messages_[i].msg_hdr;
      const std::size_t size = messages_[i].msg_len;
      batch_.store(batch_.first, from_ + i,
                   {.name_size = header.msg_namelen,
                    .size = size,
                    .segment_size = segment_size_of(header, size),
                    .truncated = (header.msg_flags & MSG_TRUNC) != 0});
    }
  }

 private:
  const incoming_batch& batch_;
  std::size_t from_;
  std::size_t count_;
  mmsghdr messages_[max_messages];
  iovec vectors_[max_messages];
  alignas(cmsghdr) char control_[max_messages][control_capacity];
};

io_status perform_receive_batch(io_operation& base) noexcept {
  auto& op = static_cast<receive_batch_operation&>(base);
  incoming_batch turn = op.batch;
  turn.count = std::min(turn.count, max_calls * max_messages);
  error_code ec;
  const io_status status = receive_batch(op.fd, turn, MSG_DONTWAIT, op.bytes, ec);
  op.ec = ec;
  return status;
}

// ---- sending

/// The most datagrams that the kernel takes as one: UDP_MAX_SEGMENTS before Linux 6.9.
constexpr std::size_t max_segments = 64;

/// Larger datagrams may not fit the link, and then the kernel would refuse them as one.
constexpr std::size_t max_coalesced_size = 1452;

constexpr std::size_t max_datagram_size = 65507;

bool same_destination(const datagram_view& a, const datagram_view& b) noexcept {
  return a.name_size == b.name_size &&
         (a.name == b.name || std::memcmp(a.name, b.name, a.name_size) == 0);
}

/// Whether a failure may be that of the segmentation, rather than of the datagrams.
bool refuses_segments(int errno_value) noexcept {
  return errno_value == EINVAL || errno_value == EMSGSIZE || errno_value == EIO ||
         errno_value == EOPNOTSUPP;
}

class send_call {
 public:
  send_call(const outgoing_batch& batch, std::size_t from) noexcept : batch_(batch) {
    while (from != batch.count && count_ != max_messages && vector_count_ != max_vectors) {
      const datagram_view view = batch.view(batch.first, from);
      ec_ = check(view);
      if (ec_)
        break;
      add(view);
      if (view.segment_size != 0 && view.segment_size < view.buffer.size())
        segment(view.segment_size);
      else if (batch.segments == segmentation::automatic && view.segment_size == 0)
        coalesce(view, from);
      from += datagrams_[count_++];
    }
  }

  /// How many messages there are: none if the first datagram is at fault.
  std::size_t count() const noexcept { return count_; }
  error_code ec() const noexcept { return ec_; }
  /// Of how many datagrams a message is made.
  std::size_t datagrams(std::size_t message) const noexcept { return datagrams_[message]; }
  /// The address of the first message's destination, or null.
  const void* destination() const noexcept { return messages_[0].msg_hdr.msg_name; }

  int operator()(int fd, int flags) noexcept {
    return retry_interrupted(
        [&] { return ::sendmmsg(fd, messages_, static_cast<unsigned>(count_), flags); });
  }

 private:
  static constexpr std::size_t max_vectors = 256;

  error_code check(const datagram_view& view) const noexcept {
    if (view.segment_size != 0 && batch_.segments == segmentation::none)
      return error::operation_not_supported;
    if (view.segment_size > std::numeric_limits<std::uint16_t>::max())
      return error::invalid_argument;
    return {};
  }

  void add_vector(const_buffer b) noexcept {
    vectors_[vector_count_++] = {const_cast<void*>(b.data()), b.size()};
  }

  void add(const datagram_view& view) noexcept {
    msghdr& header = messages_[count_].msg_hdr;
    header = {};
    header.msg_name = const_cast<void*>(view.name);
    header.msg_namelen = static_cast<socklen_t>(view.name_size);
    header.msg_iov = &vectors_[vector_count_];
    header.msg_iovlen = 1;
    add_vector(view.buffer);
    datagrams_[count_] = 1;
  }

  /// Has the kernel cut the message into datagrams.
  void segment(std::size_t size) noexcept {
    msghdr& header = messages_[count_].msg_hdr;
    header.msg_control = control_[count_];
    header.msg_controllen = sizeof(control_[count_]);
    cmsghdr& control = *CMSG_FIRSTHDR(&header);
    control.cmsg_level = IPPROTO_UDP;
    control.cmsg_type = UDP_SEGMENT;
    control.cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto value = static_cast<std::uint16_t>(size);
    std::memcpy(CMSG_DATA(&control), &value, sizeof(value));
  }

  /// Adds to the message, which is datagram `from`, those that follow, are of the same size, and go
  /// to the same place; the last may be shorter.
  void coalesce(const datagram_view& first, std::size_t from) noexcept {
    const std::size_t size = first.buffer.size();
    if (size == 0 || size > max_coalesced_size)
      return;
    const std::size_t most = std::min({batch_.count - from, max_segments, max_datagram_size / size,
                                       max_vectors - vector_count_ + 1});
    std::size_t n = 1;
    for (bool last = false; n < most && !last; ++n) {
      const datagram_view next = batch_.view(batch_.first, from + n);
      const std::size_t next_size = next.buffer.size();
      last = next_size < size;
      if (next_size == 0 || next_size > size || next.segment_size != 0 ||
          !same_destination(first, next))
        break;
      add_vector(next.buffer);
    }
    if (n == 1)
      return;
    messages_[count_].msg_hdr.msg_iovlen = n;
    datagrams_[count_] = n;
    segment(size);
  }

  const outgoing_batch& batch_;
  std::size_t count_ = 0;
  std::size_t vector_count_ = 0;
  error_code ec_;
  mmsghdr messages_[max_messages];
  iovec vectors_[max_vectors];
  std::size_t datagrams_[max_messages];
  alignas(cmsghdr) char control_[max_messages][CMSG_SPACE(sizeof(std::uint16_t))];
};

io_status perform_send_batch(io_operation& base) noexcept {
  auto& op = static_cast<send_batch_operation&>(base);
  error_code ec;
  const io_status status = send_batch(op.fd, op.batch, MSG_DONTWAIT, op.bytes, ec);
  op.ec = ec;
  return status;
}

}  // namespace

io_status receive_batch(int fd, const incoming_batch& batch, int first_flags, std::size_t& count,
                        error_code& ec) noexcept {
  count = 0;
  ec = error_code();
  while (count != batch.count) {
    receive_call call(batch, count);
    const int n = call(fd, count == 0 ? first_flags : MSG_DONTWAIT);
    if (n < 0) {
      if (would_block(errno))
        return count == 0 ? io_status::again : io_status::drained;
      ec = errno_code(errno);
      return io_status::done;
    }
    const auto received = static_cast<std::size_t>(n);
    call.store(received);
    count += received;
    // Fewer: the socket is empty, or there was an error, which the system keeps for the next call
    // but wakes nobody for.
    if (received != call.count())
      return io_status::done;
  }
  return io_status::done;
}

io_status send_batch(int fd, outgoing_batch& batch, int flags, std::size_t& sent,
                     error_code& ec) noexcept {
  ec = error_code();
  for (std::size_t calls = 0; sent != batch.count; ++calls) {
    if (calls == max_calls)
      return io_status::more;
    send_call call(batch, sent);
    if (call.count() == 0) {
      ec = call.ec();
      return io_status::done;
    }
    const int n = call(fd, flags | MSG_NOSIGNAL);
    if (n >= 0) {
      for (int i = 0; i != n; ++i)
        sent += call.datagrams(static_cast<std::size_t>(i));
    } else if (would_block(errno)) {
      return full_elsewhere(fd, call.destination()) ? io_status::later : io_status::again;
    } else if (call.datagrams(0) > 1 && refuses_segments(errno)) {
      batch.segments = segmentation::on_demand;
    } else {
      ec = errno_code(errno);
      return io_status::done;
    }
  }
  return io_status::done;
}

const io_kind receive_batch_operation::receive_batch_kind{&perform_receive_batch, nullptr, nullptr};
const io_kind send_batch_operation::send_batch_kind{&perform_send_batch, nullptr, nullptr};

}  // namespace WEFT_NAMESPACE::detail
