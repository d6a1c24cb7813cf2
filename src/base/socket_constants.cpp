// SPDX-License-Identifier: BSL-1.0
#include <weft/base/socket_constants.hpp>

#include <cstddef>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace WEFT_NAMESPACE::detail::os {

static_assert(af_unspec == AF_UNSPEC && af_unix == AF_UNIX);
static_assert(af_inet == AF_INET && af_inet6 == AF_INET6);

static_assert(sock_stream == SOCK_STREAM && sock_dgram == SOCK_DGRAM);
static_assert(sock_raw == SOCK_RAW && sock_seqpacket == SOCK_SEQPACKET);

static_assert(ipproto_ip == IPPROTO_IP && ipproto_icmp == IPPROTO_ICMP);
static_assert(ipproto_tcp == IPPROTO_TCP && ipproto_udp == IPPROTO_UDP);
static_assert(ipproto_ipv6 == IPPROTO_IPV6 && ipproto_icmpv6 == IPPROTO_ICMPV6);

static_assert(sol_socket == SOL_SOCKET);
static_assert(so_debug == SO_DEBUG && so_reuseaddr == SO_REUSEADDR);
static_assert(so_dontroute == SO_DONTROUTE && so_broadcast == SO_BROADCAST);
static_assert(so_sndbuf == SO_SNDBUF && so_rcvbuf == SO_RCVBUF);
static_assert(so_keepalive == SO_KEEPALIVE && so_oobinline == SO_OOBINLINE);
static_assert(so_linger == SO_LINGER && so_reuseport == SO_REUSEPORT);
static_assert(so_rcvlowat == SO_RCVLOWAT && so_sndlowat == SO_SNDLOWAT);

static_assert(tcp_nodelay == TCP_NODELAY && tcp_maxseg == TCP_MAXSEG && tcp_cork == TCP_CORK);
static_assert(tcp_keepidle == TCP_KEEPIDLE && tcp_keepintvl == TCP_KEEPINTVL);
static_assert(tcp_keepcnt == TCP_KEEPCNT && tcp_defer_accept == TCP_DEFER_ACCEPT);
static_assert(tcp_quickack == TCP_QUICKACK && tcp_user_timeout == TCP_USER_TIMEOUT);
static_assert(tcp_fastopen == TCP_FASTOPEN && tcp_fastopen_connect == TCP_FASTOPEN_CONNECT);

static_assert(ip_ttl == IP_TTL && ip_multicast_if == IP_MULTICAST_IF);
static_assert(ip_multicast_ttl == IP_MULTICAST_TTL && ip_multicast_loop == IP_MULTICAST_LOOP);
static_assert(ip_add_membership == IP_ADD_MEMBERSHIP && ip_drop_membership == IP_DROP_MEMBERSHIP);
static_assert(ipv6_unicast_hops == IPV6_UNICAST_HOPS && ipv6_multicast_if == IPV6_MULTICAST_IF);
static_assert(ipv6_multicast_hops == IPV6_MULTICAST_HOPS);
static_assert(ipv6_multicast_loop == IPV6_MULTICAST_LOOP && ipv6_v6only == IPV6_V6ONLY);
static_assert(ipv6_join_group == IPV6_JOIN_GROUP && ipv6_leave_group == IPV6_LEAVE_GROUP);

static_assert(udp_segment == UDP_SEGMENT && udp_gro == UDP_GRO);

static_assert(msg_oob == MSG_OOB && msg_peek == MSG_PEEK);
static_assert(msg_dontroute == MSG_DONTROUTE && msg_dontwait == MSG_DONTWAIT);
static_assert(msg_eor == MSG_EOR && msg_errqueue == MSG_ERRQUEUE);

static_assert(shut_rd == SHUT_RD && shut_wr == SHUT_WR && shut_rdwr == SHUT_RDWR);
static_assert(somaxconn == SOMAXCONN && fionread == FIONREAD);

static_assert(offsetof(sockaddr_in, sin_family) == 0 && sizeof(sa_family_t) == 2);
static_assert(sockaddr_in_size == sizeof(sockaddr_in));
static_assert(sockaddr_in_port == offsetof(sockaddr_in, sin_port));
static_assert(sockaddr_in_addr == offsetof(sockaddr_in, sin_addr));
static_assert(sockaddr_in6_size == sizeof(sockaddr_in6));
static_assert(sockaddr_in6_port == offsetof(sockaddr_in6, sin6_port));
static_assert(sockaddr_in6_addr == offsetof(sockaddr_in6, sin6_addr));
static_assert(sockaddr_in6_scope_id == offsetof(sockaddr_in6, sin6_scope_id));
static_assert(sockaddr_un_size == sizeof(sockaddr_un));
static_assert(sockaddr_un_path == offsetof(sockaddr_un, sun_path));
static_assert(sockaddr_storage_size == sizeof(sockaddr_storage));
static_assert(alignof(sockaddr_in6) <= 8 && alignof(sockaddr_storage) <= 8);

static_assert(sizeof(linger) == 2 * sizeof(int) && offsetof(linger, l_linger) == sizeof(int));
static_assert(sizeof(ip_mreq) == 8 && offsetof(ip_mreq, imr_interface) == 4);
static_assert(sizeof(ipv6_mreq) == 20 && offsetof(ipv6_mreq, ipv6mr_interface) == 16);

}  // namespace WEFT_NAMESPACE::detail::os
