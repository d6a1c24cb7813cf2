// SPDX-License-Identifier: BSL-1.0
// Lesson 34: select waits for several channels and a time, and performs the one case that is ready
// first. What it does not take stays where it is.
#include <chrono>
#include <cstdio>
#include <weft.hpp>
#include <weft/channels.hpp>

using namespace std::chrono_literals;
using weft::awaitable;
using weft::channel;

awaitable<void> serve(channel<int>& orders, channel<int>& returns) {
  for (;;) {
    const auto next = co_await weft::async_select(
        weft::on_receive(orders), weft::on_receive(returns), weft::on_timeout(20ms));
    if (next.index() == 0)
      std::printf("order %d\n", *std::get<0>(next));
    else if (next.index() == 1)
      std::printf("return %d\n", *std::get<1>(next));
    else
      break;
  }
  std::puts("nothing to do");
}

awaitable<void> work(channel<int>& orders, channel<int>& returns) {
  co_await orders.async_send(1);
  co_await returns.async_send(2);
  co_await orders.async_send(3);
}

int main() {
  weft::io_context context;
  channel<int> orders(context);
  channel<int> returns(context);
  co_spawn(context, serve(orders, returns), weft::detached);
  co_spawn(context, work(orders, returns), weft::detached);
  context.run();
}
