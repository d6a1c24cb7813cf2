// SPDX-License-Identifier: BSL-1.0
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>

#include "wakeup.hpp"

namespace {

// What a loop must at least do: epoll_wait, and an eventfd, edge-triggered so that it need not be
// read.
class eventfd_loop {
 public:
  explicit eventfd_loop(wakeup::stopwatch& watch)
      : watch_(watch),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &event) != 0)
      std::abort();
  }
  ~eventfd_loop() {
    ::close(event_);
    ::close(epoll_);
  }
  eventfd_loop(const eventfd_loop&) = delete;
  eventfd_loop& operator=(const eventfd_loop&) = delete;

  void run() {
    epoll_event event;
    for (;;) {
      if (::epoll_wait(epoll_, &event, 1, -1) != 1)
        continue;
      if (stopped_.load(std::memory_order_acquire))
        return;
      watch_.arrived();
    }
  }
  void stop() {
    stopped_.store(true, std::memory_order_release);
    wake();
  }
  void wake() {
    const std::uint64_t one = 1;
    if (::write(event_, &one, sizeof one) != sizeof one)
      std::abort();
  }

 private:
  wakeup::stopwatch& watch_;
  int epoll_;
  int event_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const wakeup::parameters p(argc, argv);
  return bench::measure("wakeup", "bare_eventfd", "epoll_wait", [&] {
    wakeup::stopwatch watch(p.posts);
    eventfd_loop loop(watch);
    return wakeup::run(loop, watch, p);
  });
}
