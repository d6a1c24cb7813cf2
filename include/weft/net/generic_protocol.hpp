// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <typeinfo>

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/generic_endpoint.hpp>

namespace WEFT_NAMESPACE::detail {

template <class T>
concept socket_protocol = requires(const T& protocol) {
  { protocol.family() } -> std::convertible_to<int>;
  { protocol.type() } -> std::convertible_to<int>;
  { protocol.protocol() } -> std::convertible_to<int>;
};

}  // namespace WEFT_NAMESPACE::detail

/// Protocols of which only the socket type is fixed; family and protocol number are given at run
/// time, by number or by a specific protocol. The header of a socket type has to be included to
/// use it; <weft/net/generic.hpp> brings all of them.
///
///     generic::stream_protocol p(ip::tcp::v4());
namespace WEFT_NAMESPACE::generic {

/// Sockets of type SOCK_STREAM.
class stream_protocol {
 public:
  using endpoint = basic_endpoint<stream_protocol>;
  using socket = basic_stream_socket<stream_protocol>;
  using iostream = basic_socket_iostream<stream_protocol>;

  constexpr stream_protocol(int address_family, int protocol) noexcept
      : family_(address_family), protocol_(protocol) {}
  /// From a specific protocol; throws std::bad_cast if its socket type is another.
  template <detail::socket_protocol Protocol>
    requires(!std::same_as<Protocol, stream_protocol>)
  constexpr stream_protocol(const Protocol& source)
      : family_(source.family()), protocol_(source.protocol()) {
    if (source.type() != type())
      throw std::bad_cast();
  }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_stream; }
  constexpr int protocol() const noexcept { return protocol_; }

  friend constexpr bool operator==(const stream_protocol&,
                                   const stream_protocol&) noexcept = default;

 private:
  int family_;
  int protocol_;
};

/// Sockets of type SOCK_DGRAM.
class datagram_protocol {
 public:
  using endpoint = basic_endpoint<datagram_protocol>;
  using socket = basic_datagram_socket<datagram_protocol>;

  constexpr datagram_protocol(int address_family, int protocol) noexcept
      : family_(address_family), protocol_(protocol) {}
  /// From a specific protocol; throws std::bad_cast if its socket type is another.
  template <detail::socket_protocol Protocol>
    requires(!std::same_as<Protocol, datagram_protocol>)
  constexpr datagram_protocol(const Protocol& source)
      : family_(source.family()), protocol_(source.protocol()) {
    if (source.type() != type())
      throw std::bad_cast();
  }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_dgram; }
  constexpr int protocol() const noexcept { return protocol_; }

  friend constexpr bool operator==(const datagram_protocol&,
                                   const datagram_protocol&) noexcept = default;

 private:
  int family_;
  int protocol_;
};

/// Sockets of type SOCK_SEQPACKET.
class seq_packet_protocol {
 public:
  using endpoint = basic_endpoint<seq_packet_protocol>;
  using socket = basic_seq_packet_socket<seq_packet_protocol>;

  constexpr seq_packet_protocol(int address_family, int protocol) noexcept
      : family_(address_family), protocol_(protocol) {}
  /// From a specific protocol; throws std::bad_cast if its socket type is another.
  template <detail::socket_protocol Protocol>
    requires(!std::same_as<Protocol, seq_packet_protocol>)
  constexpr seq_packet_protocol(const Protocol& source)
      : family_(source.family()), protocol_(source.protocol()) {
    if (source.type() != type())
      throw std::bad_cast();
  }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_seqpacket; }
  constexpr int protocol() const noexcept { return protocol_; }

  friend constexpr bool operator==(const seq_packet_protocol&,
                                   const seq_packet_protocol&) noexcept = default;

 private:
  int family_;
  int protocol_;
};

/// Sockets of type SOCK_RAW.
class raw_protocol {
 public:
  using endpoint = basic_endpoint<raw_protocol>;
  using socket = basic_raw_socket<raw_protocol>;

  constexpr raw_protocol(int address_family, int protocol) noexcept
      : family_(address_family), protocol_(protocol) {}
  /// From a specific protocol; throws std::bad_cast if its socket type is another.
  template <detail::socket_protocol Protocol>
    requires(!std::same_as<Protocol, raw_protocol>)
  constexpr raw_protocol(const Protocol& source)
      : family_(source.family()), protocol_(source.protocol()) {
    if (source.type() != type())
      throw std::bad_cast();
  }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_raw; }
  constexpr int protocol() const noexcept { return protocol_; }

  friend constexpr bool operator==(const raw_protocol&, const raw_protocol&) noexcept = default;

 private:
  int family_;
  int protocol_;
};

}  // namespace WEFT_NAMESPACE::generic
