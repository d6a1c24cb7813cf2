// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/socket_wait.hpp"

#include <memory>

#include <poll.h>

#include <weft/base/operation_memory.hpp>

#include "net/resolver/resolver_service.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

io_status poll_for(io_operation& op, short events) noexcept {
  pollfd socket{op.fd, events, 0};
  return ::poll(&socket, 1, 0) == 1 ? io_status::done : io_status::again;
}

// The socket is read and written by c-ares, so an attempt only looks.
constexpr io_kind readable{
    .perform = [](io_operation& op) noexcept { return poll_for(op, POLLIN); },
    .prepare = nullptr,
    .finish = nullptr,
    .activity = io_activity::internal};
constexpr io_kind writable{
    .perform = [](io_operation& op) noexcept { return poll_for(op, POLLOUT); },
    .prepare = nullptr,
    .finish = nullptr,
    .activity = io_activity::internal};

using wait_owner = operation_owner<socket_wait, std::allocator<void>>;

}  // namespace

void socket_wait::start(io_handle& handle, resolver_service& service, std::uint64_t serial,
                        io_queue direction) {
  wait_owner op(std::in_place, std::allocator<void>(), handle.owner(), service, serial, direction);
  handle.attach(op.get());
  handle.start(op.release());
}

socket_wait::socket_wait(scheduler& owner, resolver_service& service, std::uint64_t serial,
                         io_queue direction) noexcept
    : io_operation(&complete, owner, direction == io_queue::read ? readable : writable, direction),
      service_(service),
      serial_(serial) {}

void socket_wait::complete(operation* base, action what) {
  if (what == action::describe)
    return describe<socket_wait>(base, true);
  auto* self = static_cast<socket_wait*>(base);
  wait_owner op(self, std::allocator<void>());
  if (what == action::destroy)
    return;
  resolver_service& service = self->service_;
  const std::uint64_t serial = self->serial_;
  const io_queue direction = self->queue();
  const error_code ec = self->ec;
  op.reset();
  service.on_ready(serial, direction, ec);
}

}  // namespace WEFT_NAMESPACE::detail
