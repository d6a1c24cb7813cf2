// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/io_control.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE {

/// The types and constants that all sockets and acceptors share, as members of each.
///
/// Every option is set with `set_option(option)` and, where the system can tell, read with
/// `get_option(option)`; both fail with no_protocol_option on a socket that has no such option.
///
///     socket.set_option(socket_base::keep_alive(true));
class socket_base {
 public:
  /// Which side of a connection to shut down (shutdown(2)).
  enum shutdown_type {
    shutdown_receive = detail::os::shut_rd,
    shutdown_send = detail::os::shut_wr,
    shutdown_both = detail::os::shut_rdwr
  };

  /// What to wait for.
  enum wait_type {
    wait_read,   ///< Until reading (or accepting) would not block.
    wait_write,  ///< Until writing would not block.
    wait_error   ///< Until an error condition is pending.
  };

  /// Flags of send and receive calls, combined with |. Flags of the system that have no name here
  /// may be passed as well.
  using message_flags = int;
  static constexpr int message_peek = detail::os::msg_peek;
  static constexpr int message_out_of_band = detail::os::msg_oob;
  static constexpr int message_do_not_route = detail::os::msg_dontroute;
  static constexpr int message_end_of_record = detail::os::msg_eor;

  /// The default length of the queue of connections that wait to be accepted. The kernel cuts it
  /// down to net.core.somaxconn.
  static constexpr int max_listen_connections = detail::os::somaxconn;
  static constexpr int max_connections = max_listen_connections;

  /// SO_BROADCAST: datagrams may be sent to broadcast addresses.
  using broadcast = socket_option::boolean<detail::os::sol_socket, detail::os::so_broadcast>;
  /// SO_DEBUG: socket debugging; setting it to true needs CAP_NET_ADMIN.
  using debug = socket_option::boolean<detail::os::sol_socket, detail::os::so_debug>;
  /// SO_DONTROUTE: send to directly connected hosts only.
  using do_not_route = socket_option::boolean<detail::os::sol_socket, detail::os::so_dontroute>;
  /// SO_KEEPALIVE: probe a silent peer; ip::tcp has the intervals.
  using keep_alive = socket_option::boolean<detail::os::sol_socket, detail::os::so_keepalive>;
  /// SO_SNDBUF, in bytes. Linux doubles the value that is set, and reports the doubled one.
  using send_buffer_size = socket_option::integer<detail::os::sol_socket, detail::os::so_sndbuf>;
  /// SO_SNDLOWAT, in bytes; always 1 on Linux, which refuses to change it.
  using send_low_watermark =
      socket_option::integer<detail::os::sol_socket, detail::os::so_sndlowat>;
  /// SO_RCVBUF, in bytes. Linux doubles the value that is set, and reports the doubled one.
  using receive_buffer_size = socket_option::integer<detail::os::sol_socket, detail::os::so_rcvbuf>;
  /// SO_RCVLOWAT, in bytes: a stream is not readable before it holds as many.
  using receive_low_watermark =
      socket_option::integer<detail::os::sol_socket, detail::os::so_rcvlowat>;
  /// SO_REUSEADDR: bind to an address that closed connections still occupy.
  using reuse_address = socket_option::boolean<detail::os::sol_socket, detail::os::so_reuseaddr>;
  /// SO_REUSEPORT: sockets that all set it share one address; the kernel spreads connections and
  /// datagrams over them. Linux 3.9.
  using reuse_port = socket_option::boolean<detail::os::sol_socket, detail::os::so_reuseport>;
  /// SO_LINGER: what close does with unsent data. Enabled with a timeout of 0, it resets the
  /// connection.
  using linger = socket_option::linger<detail::os::sol_socket, detail::os::so_linger>;
  /// SO_OOBINLINE: out-of-band data is read among the rest.
  using out_of_band_inline =
      socket_option::boolean<detail::os::sol_socket, detail::os::so_oobinline>;
  /// Whether accepting reports connection_aborted when the peer has given up before; by default
  /// the acceptor takes the next connection instead. Kept by the library, not the system.
  using enable_connection_aborted =
      socket_option::boolean<detail::library_option_level,
                             detail::enable_connection_aborted_option>;

  using bytes_readable = io_control::bytes_readable;

 protected:
  ~socket_base() = default;
};

}  // namespace WEFT_NAMESPACE
