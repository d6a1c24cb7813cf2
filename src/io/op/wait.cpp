// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/wait.hpp>

#include <poll.h>
#include <time.h>

#include <algorithm>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {

namespace {

long long monotonic_milliseconds() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

io_status perform_wait(io_operation& op) noexcept {
  error_code ec;
  const bool ready = poll_descriptor(op.fd, poll_events(op.queue()), 0, ec);
  op.ec = ec;
  return ready || ec ? io_status::done : io_status::again;
}

}  // namespace

short poll_events(io_queue queue) noexcept {
  switch (queue) {
    case io_queue::write: return POLLOUT;
    case io_queue::except: return POLLPRI;
    default: return POLLIN;
  }
}

bool poll_descriptor(int fd, short events, int milliseconds, error_code& ec) noexcept {
  const long long deadline = milliseconds > 0 ? monotonic_milliseconds() + milliseconds : 0;
  for (;;) {
    pollfd entry{fd, events, 0};
    const int count = ::poll(&entry, 1, milliseconds);
    if (count >= 0) {
      if ((entry.revents & POLLNVAL) != 0)
        ec = error::bad_descriptor;
      return count > 0 && !ec;
    }
    if (errno != EINTR) {
      ec = errno_code(errno);
      return false;
    }
    if (milliseconds > 0)
      milliseconds = static_cast<int>(std::max(0LL, deadline - monotonic_milliseconds()));
  }
}

const io_kind readiness_operation::wait_kind{.perform = &perform_wait,
                                             .prepare = nullptr,
                                             .finish = nullptr,
                                             .activity = io_activity::readiness};

}  // namespace WEFT_NAMESPACE::detail
