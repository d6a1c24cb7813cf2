// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>

#include <weft/base/socket_constants.hpp>
#include <weft/io/op/datagram_batch.hpp>

struct sockaddr;

namespace WEFT_NAMESPACE {

/// One element of a batch that is received: room for a datagram, and what came of it. All sizes are
/// in bytes.
template <class Endpoint>
struct incoming_datagram {
  /// Where its bytes go. Receiving leaves it as it is, so that the element can be used again.
  mutable_buffer buffer;
  Endpoint sender{};
  std::size_t size = 0;
  /// Less than `size` if the kernel has put several datagrams of one sender together
  /// (ip::udp::generic_receive_offload): then each has this size, but the last may be shorter.
  /// Otherwise `size`.
  std::size_t segment_size = 0;
  /// The datagram was longer than the buffer; the rest is lost.
  bool truncated = false;

  /// The bytes received.
  mutable_buffer received() const noexcept { return {buffer.data(), size}; }
};

/// One element of a batch that is sent.
template <class Endpoint>
struct outgoing_datagram {
  const_buffer buffer;
  /// Where it goes. Null: to the peer the socket is connected to.
  const Endpoint* destination = nullptr;
  /// In bytes, at most 65535; less than the size of the buffer: the kernel makes datagrams of this
  /// size of it, of which the last may be shorter (UDP_SEGMENT, Linux 4.18). At most 64, and none
  /// larger than the link takes: otherwise invalid_argument, or message_size. 0: one datagram.
  std::size_t segment_size = 0;
};

namespace detail {

template <class Endpoint>
incoming_batch describe_batch(std::span<incoming_datagram<Endpoint>> batch, int family) noexcept {
  using datagram = incoming_datagram<Endpoint>;
  return {.first = batch.data(),
          .count = batch.size(),
          .room = [](void* first, std::size_t index) noexcept -> datagram_room {
            datagram& d = static_cast<datagram*>(first)[index];
            return {d.sender.data(), d.sender.capacity(), d.buffer};
          },
          .store =
              [](void* first, std::size_t index, const datagram_news& news) noexcept {
                datagram& d = static_cast<datagram*>(first)[index];
                d.sender.resize(news.name_size < d.sender.capacity() ? news.name_size
                                                                     : d.sender.capacity());
                d.size = news.size;
                d.segment_size = news.segment_size;
                d.truncated = news.truncated;
              },
          .internet = family != os::af_unix};
}

template <class Endpoint>
outgoing_batch describe_batch(std::span<const outgoing_datagram<Endpoint>> batch,
                              segmentation segments) noexcept {
  using datagram = outgoing_datagram<Endpoint>;
  return {.first = batch.data(),
          .count = batch.size(),
          .view = [](const void* first, std::size_t index) noexcept -> datagram_view {
            const datagram& d = static_cast<const datagram*>(first)[index];
            const Endpoint* to = d.destination;
            return {to ? to->data() : nullptr, to ? to->size() : 0, d.buffer, d.segment_size};
          },
          .segments = segments};
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
