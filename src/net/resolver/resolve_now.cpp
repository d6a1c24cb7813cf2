// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/resolve_now.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "net/resolver/dns_lookup.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

/// The sockets of a channel, for poll(2).
struct poll_set {
  std::vector<pollfd> sockets;

  static void changed(void* self, int fd, bool read, bool write) {
    auto& sockets = static_cast<poll_set*>(self)->sockets;
    std::erase_if(sockets, [fd](const pollfd& entry) { return entry.fd == fd; });
    if (read || write)
      sockets.push_back({fd, static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0)), 0});
  }
  static void close(void*, int fd) { ::close(fd); }
};

struct waiting_lookup : dns_lookup {
  using dns_lookup::dns_lookup;
  static void finish(dns_lookup& lookup) { static_cast<waiting_lookup&>(lookup).finished = true; }
  bool finished = false;
};

}  // namespace

resolve_answer resolve_now(resolve_request request, const ip::resolver_options& options) {
  waiting_lookup lookup(std::move(request));
  if (lookup.prepare())
    return std::move(lookup.answer);
  poll_set set;
  dns_channel channel;
  lookup.answer.ec = channel.open(options, &poll_set::changed, &poll_set::close, &set);
  if (lookup.answer.ec)
    return std::move(lookup.answer);
  lookup.start(channel, &waiting_lookup::finish);
  while (!lookup.finished) {
    std::vector<pollfd> ready = set.sockets;
    // A failed poll (EINTR) leaves no events: timeouts are looked after, then it is tried again.
    if (::poll(ready.data(), ready.size(), channel.timeout_ms()) <= 0)
      ready.clear();
    channel.process(-1, -1);
    for (const pollfd& socket : ready)
      if (socket.revents != 0)
        channel.process(socket.events & POLLIN ? socket.fd : -1,
                        socket.events & POLLOUT ? socket.fd : -1);
  }
  return std::move(lookup.answer);
}

}  // namespace WEFT_NAMESPACE::detail
