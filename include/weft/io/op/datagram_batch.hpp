// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer.hpp>
#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where one datagram of a batch is to be received to.
struct datagram_room {
  void* name;  ///< Room for the sender's socket address.
  std::size_t name_capacity;
  mutable_buffer buffer;
};

/// What one datagram was received with. Sizes are in bytes.
struct datagram_news {
  std::size_t name_size;
  std::size_t size;
  std::size_t segment_size;
  bool truncated;
};

/// An array of datagrams to be received, of a type that only its maker knows.
struct incoming_batch {
  void* first;
  std::size_t count;
  datagram_room (*room)(void* first, std::size_t index) noexcept;
  void (*store)(void* first, std::size_t index, const datagram_news& news) noexcept;
  bool internet;  ///< Room is made for the segment size, which only UDP tells.
};

/// One datagram that is to be sent.
struct datagram_view {
  const void* name;  ///< A socket address, or null.
  std::size_t name_size;
  const_buffer buffer;
  std::size_t segment_size;
};

/// What a socket's kernel side can do with a buffer that is several datagrams (UDP_SEGMENT).
enum class segmentation : std::uint8_t {
  none,
  on_demand,  ///< The socket has a segment size of its own, which is to rule what asks for none.
  automatic,  ///< Datagrams of one size to one destination may go as one.
};

/// An array of datagrams to be sent, of a type that only its maker knows.
struct outgoing_batch {
  const void* first;
  std::size_t count;
  datagram_view (*view)(const void* first, std::size_t index) noexcept;
  segmentation segments;
};

/// Receives into the datagrams of the batch in order, as many as there are now: recvmmsg(2), with
/// `first_flags` while none has been taken and MSG_DONTWAIT after that. `count` is how many were
/// taken; `done` if that is all, `drained` if the socket is empty.
WEFT_API io_status receive_batch(int fd, const incoming_batch& batch, int first_flags,
                                 std::size_t& count, error_code& ec) noexcept;

/// Sends the datagrams of the batch in order, from the `sent`-th on, which it counts up:
/// sendmmsg(2). `more` if others are to have their turn before it goes on. `batch.segments` changes
/// if the kernel refuses to take several as one.
WEFT_API io_status send_batch(int fd, outgoing_batch& batch, int flags, std::size_t& sent,
                              error_code& ec) noexcept;

/// Receives a batch, as soon as there is one datagram, and of what is there 256 at most. On
/// io_uring too, when the socket is readable: a request for each datagram costs more than the call
/// for all.
class WEFT_API receive_batch_operation : public transfer_operation {
 public:
  receive_batch_operation(function f, scheduler& owner, const incoming_batch& to) noexcept
      : transfer_operation(f, owner, receive_batch_kind, io_queue::read), batch(to) {}

  incoming_batch batch;

 private:
  static const io_kind receive_batch_kind;
};

/// Sends a whole batch; waits for room in between. On io_uring as above.
class WEFT_API send_batch_operation : public transfer_operation {
 public:
  send_batch_operation(function f, scheduler& owner, const outgoing_batch& from) noexcept
      : transfer_operation(f, owner, send_batch_kind, io_queue::write), batch(from) {}

  outgoing_batch batch;

 private:
  static const io_kind send_batch_kind;
};

}  // namespace WEFT_NAMESPACE::detail
