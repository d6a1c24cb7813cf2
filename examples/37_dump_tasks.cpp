// SPDX-License-Identifier: BSL-1.0
// Lesson 37: who waits, for what, and where? dump_tasks() tells of each coroutine the co_awaits
// that it is in, the innermost first. Any thread may ask, and so may a debugger.
#include <cstdio>
#include <weft.hpp>

using weft::ip::tcp;

weft::awaitable<void> pause(weft::steady_timer& timer) {
  co_await timer.async_wait();
}

weft::awaitable<void> heartbeat(weft::steady_timer& timer) {
  for (;;)
    co_await pause(timer);
}

weft::awaitable<void> serve(tcp::acceptor& acceptor) {
  for (;;)
    co_await acceptor.async_accept();
}

int main() {
  weft::io_context context;
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  weft::steady_timer timer(context, std::chrono::hours(1));
  co_spawn(context, heartbeat(timer), weft::detached);
  co_spawn(context, serve(acceptor), weft::detached);
  context.poll();
  weft::dump_tasks(stdout);
}
