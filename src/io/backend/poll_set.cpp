// SPDX-License-Identifier: BSL-1.0
#include "io/backend/poll_set.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <weft/context/io_context.hpp>
#include <weft/io/io_handle.hpp>

#include "context/scheduler/driver.hpp"
#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE {

int io_context::poll_descriptor() {
  return detail::use_io_driver(*this).poll_descriptor();
}

namespace detail {

void poll_set::ready_in(std::int64_t timeout) noexcept {
  const bool sets = timeout != driver::forever;
  if (!sets && !is_set_)
    return;
  is_set_ = sets;
  itimerspec time{};  // a time of 0 would end the timer
  if (sets) {
    timeout = std::max<std::int64_t>(timeout, 1);
    time.it_value = {timeout / 1'000'000'000, timeout % 1'000'000'000};
  }
  ::timerfd_settime(timer_.get(), 0, &time, nullptr);
}

void poll_set::restart(int backend) {
  native_descriptor set(::epoll_create1(EPOLL_CLOEXEC), "epoll");
  timer_ =
      native_descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd");
  for (const int fd : {backend, timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(set.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      throw_error(errno_code(errno), "epoll_ctl");
  }
  if (set_.get() < 0)
    set_ = std::move(set);
  else if (::dup3(set.get(), set_.get(), O_CLOEXEC) < 0)
    throw_error(errno_code(errno), "dup3");
  ready_in(0);
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
