// SPDX-License-Identifier: BSL-1.0
// Lesson 20: a program whose main loop is another library's. That loop waits on the context's
// descriptor among its own, here by poll(2).
#include <poll.h>
#include <unistd.h>
#include <cstdio>
#include <thread>
#include <weft.hpp>

int main() {
  weft::io_context context;
  const auto guard = weft::make_work_guard(context);
  int own[2];  // something else that the loop waits for
  if (::pipe(own) != 0)
    return 1;
  std::thread other;
  weft::steady_timer timer(context, std::chrono::milliseconds(10));
  timer.async_wait([&](weft::error_code) {
    std::puts("the timer has expired");
    other = std::thread([&] {
      weft::post(context, [&] {
        std::puts("another thread has posted");
        ::close(own[1]);
      });
    });
  });

  pollfd fds[] = {{context.poll_descriptor(), POLLIN, 0}, {own[0], POLLIN, 0}};
  while (fds[1].revents == 0) {
    if (::poll(fds, 2, -1) > 0 && fds[0].revents != 0)
      context.poll();
  }
  std::puts("the loop's own descriptor is ready");
  other.join();
  ::close(own[0]);
}
