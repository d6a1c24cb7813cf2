// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <weft/net/address.hpp>
#include <weft/net/ip_socket_option.hpp>

namespace WEFT_NAMESPACE::detail {

/// A request to join or leave a group: an ip_mreq or an ipv6_mreq, whichever the protocol needs.
template <int V4Name, int V6Name>
class multicast_request {
 public:
  /// The group on an interface that the system chooses; for IPv6 the scope id of the group is the
  /// index of the interface.
  explicit multicast_request(const ip::address& group) noexcept
      : multicast_request(group.is_v4() ? multicast_request(group.to_v4())
                                        : multicast_request(group.to_v6())) {}
  /// The IPv4 group, on the interface that has the address `interface`.
  explicit multicast_request(const ip::address_v4& group,
                             const ip::address_v4& interface = ip::address_v4::any()) noexcept
      : v4_{group.to_bytes(), interface.to_bytes()} {}
  /// The IPv6 group, on the interface with the index `interface`, or the group's scope id if 0.
  explicit multicast_request(const ip::address_v6& group, unsigned long interface = 0) noexcept
      : v6_{group.to_bytes(),
            interface != 0 ? static_cast<std::uint32_t>(interface) : group.scope_id()} {}

  template <class Protocol>
  int level(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? os::ipproto_ipv6 : os::ipproto_ip;
  }
  template <class Protocol>
  int name(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? V6Name : V4Name;
  }
  template <class Protocol>
  const void* data(const Protocol& protocol) const noexcept {
    if (protocol.family() == os::af_inet6)
      return &v6_;
    return &v4_;
  }
  template <class Protocol>
  std::size_t size(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? sizeof(v6_) : sizeof(v4_);
  }

 private:
  struct {
    ip::address_v4::bytes_type group{};
    ip::address_v4::bytes_type interface{};
  } v4_;
  struct {
    ip::address_v6::bytes_type group{};
    std::uint32_t interface = 0;
  } v6_;
};

/// The interface that outgoing multicast packets take.
class multicast_interface {
 public:
  /// The interface with this address; for IPv4 sockets.
  explicit multicast_interface(const ip::address_v4& address) noexcept : v4_(address.to_bytes()) {}
  /// The interface with this index; for IPv6 sockets.
  explicit multicast_interface(unsigned int index) noexcept : v6_(index) {}

  template <class Protocol>
  int level(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? os::ipproto_ipv6 : os::ipproto_ip;
  }
  template <class Protocol>
  int name(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? os::ipv6_multicast_if : os::ip_multicast_if;
  }
  template <class Protocol>
  const void* data(const Protocol& protocol) const noexcept {
    if (protocol.family() == os::af_inet6)
      return &v6_;
    return &v4_;
  }
  template <class Protocol>
  std::size_t size(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? sizeof(v6_) : sizeof(v4_);
  }

 private:
  ip::address_v4::bytes_type v4_{};
  unsigned int v6_ = 0;
};

/// An ip_option that holds a hop limit.
class multicast_hops : public ip_option<int, os::ip_multicast_ttl, os::ipv6_multicast_hops> {
 public:
  multicast_hops() noexcept = default;
  /// Throws std::out_of_range unless `hops` is 0 to 255.
  explicit multicast_hops(int hops) : ip_option(checked(hops)) {}
  multicast_hops& operator=(int hops) {
    ip_option::operator=(checked(hops));
    return *this;
  }

 private:
  static int checked(int hops) {
    if (hops < 0 || hops > 255)
      throw std::out_of_range("multicast hops: not between 0 and 255");
    return hops;
  }
};

}  // namespace WEFT_NAMESPACE::detail

/// Socket options for multicast (ip(7), ipv6(7)). Each suits both versions: the socket's protocol
/// says which one is meant.
///
///     socket.set_option(ip::multicast::join_group(ip::make_address("239.255.0.1")));
namespace WEFT_NAMESPACE::ip::multicast {

/// IP_ADD_MEMBERSHIP or IPV6_JOIN_GROUP: receive what is sent to the group.
using join_group =
    detail::multicast_request<detail::os::ip_add_membership, detail::os::ipv6_join_group>;
/// IP_DROP_MEMBERSHIP or IPV6_LEAVE_GROUP.
using leave_group =
    detail::multicast_request<detail::os::ip_drop_membership, detail::os::ipv6_leave_group>;
/// IP_MULTICAST_IF or IPV6_MULTICAST_IF: for IPv4 the address of the interface, for IPv6 its index.
using outbound_interface = detail::multicast_interface;
/// IP_MULTICAST_TTL or IPV6_MULTICAST_HOPS: how many routers an outgoing packet may pass, 0 to 255.
using hops = detail::multicast_hops;
/// IP_MULTICAST_LOOP or IPV6_MULTICAST_LOOP: whether this host receives what it sends to a group
/// it is in.
using enable_loopback =
    detail::ip_option<bool, detail::os::ip_multicast_loop, detail::os::ipv6_multicast_loop>;

}  // namespace WEFT_NAMESPACE::ip::multicast
