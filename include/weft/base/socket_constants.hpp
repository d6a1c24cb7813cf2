// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/config.hpp>

/// Numbers of the Linux socket interface that inline code needs, so that no public header includes
/// one of the operating system. They hold on x86-64 and AArch64 (and every Linux port that uses
/// asm-generic/socket.h); src/base/socket_constants.cpp checks each against the system's headers,
/// so a port on which one differs does not compile.
namespace WEFT_NAMESPACE::detail::os {

// Address families: <sys/socket.h>.
inline constexpr int af_unspec = 0;
inline constexpr int af_unix = 1;
inline constexpr int af_inet = 2;
inline constexpr int af_inet6 = 10;

// Socket types.
inline constexpr int sock_stream = 1;
inline constexpr int sock_dgram = 2;
inline constexpr int sock_raw = 3;
inline constexpr int sock_seqpacket = 5;

// Protocols and option levels: <netinet/in.h>.
inline constexpr int ipproto_ip = 0;
inline constexpr int ipproto_icmp = 1;
inline constexpr int ipproto_tcp = 6;
inline constexpr int ipproto_udp = 17;
inline constexpr int ipproto_ipv6 = 41;
inline constexpr int ipproto_icmpv6 = 58;
inline constexpr int sol_socket = 1;

// Options at sol_socket: socket(7).
inline constexpr int so_debug = 1;
inline constexpr int so_reuseaddr = 2;
inline constexpr int so_dontroute = 5;
inline constexpr int so_broadcast = 6;
inline constexpr int so_sndbuf = 7;
inline constexpr int so_rcvbuf = 8;
inline constexpr int so_keepalive = 9;
inline constexpr int so_oobinline = 10;
inline constexpr int so_linger = 13;
inline constexpr int so_reuseport = 15;
inline constexpr int so_rcvlowat = 18;
inline constexpr int so_sndlowat = 19;

// Options at ipproto_tcp: tcp(7).
inline constexpr int tcp_nodelay = 1;
inline constexpr int tcp_maxseg = 2;
inline constexpr int tcp_cork = 3;
inline constexpr int tcp_keepidle = 4;
inline constexpr int tcp_keepintvl = 5;
inline constexpr int tcp_keepcnt = 6;
inline constexpr int tcp_defer_accept = 9;
inline constexpr int tcp_quickack = 12;
inline constexpr int tcp_user_timeout = 18;
inline constexpr int tcp_fastopen = 23;
inline constexpr int tcp_fastopen_connect = 30;

// Options at ipproto_ip and ipproto_ipv6: ip(7), ipv6(7).
inline constexpr int ip_ttl = 2;
inline constexpr int ip_multicast_if = 32;
inline constexpr int ip_multicast_ttl = 33;
inline constexpr int ip_multicast_loop = 34;
inline constexpr int ip_add_membership = 35;
inline constexpr int ip_drop_membership = 36;
inline constexpr int ipv6_unicast_hops = 16;
inline constexpr int ipv6_multicast_if = 17;
inline constexpr int ipv6_multicast_hops = 18;
inline constexpr int ipv6_multicast_loop = 19;
inline constexpr int ipv6_join_group = 20;
inline constexpr int ipv6_leave_group = 21;
inline constexpr int ipv6_v6only = 26;

// Options at ipproto_udp: udp(7).
inline constexpr int udp_segment = 103;
inline constexpr int udp_gro = 104;

// Flags of send and receive: send(2), recv(2).
inline constexpr int msg_oob = 0x1;
inline constexpr int msg_peek = 0x2;
inline constexpr int msg_dontroute = 0x4;
inline constexpr int msg_dontwait = 0x40;
inline constexpr int msg_eor = 0x80;
inline constexpr int msg_errqueue = 0x2000;

// shutdown(2), listen(2), ioctl_tty(2).
inline constexpr int shut_rd = 0;
inline constexpr int shut_wr = 1;
inline constexpr int shut_rdwr = 2;
inline constexpr int somaxconn = 4096;
inline constexpr int fionread = 0x541B;

// Sizes and offsets in bytes of the address structures: ip(7), ipv6(7), unix(7).
inline constexpr std::size_t sockaddr_in_size = 16;
inline constexpr std::size_t sockaddr_in_port = 2;
inline constexpr std::size_t sockaddr_in_addr = 4;
inline constexpr std::size_t sockaddr_in6_size = 28;
inline constexpr std::size_t sockaddr_in6_port = 2;
inline constexpr std::size_t sockaddr_in6_addr = 8;
inline constexpr std::size_t sockaddr_in6_scope_id = 24;
inline constexpr std::size_t sockaddr_un_size = 110;
inline constexpr std::size_t sockaddr_un_path = 2;
inline constexpr std::size_t sockaddr_storage_size = 128;

}  // namespace WEFT_NAMESPACE::detail::os
