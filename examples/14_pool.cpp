// SPDX-License-Identifier: BSL-1.0
// Lesson 14: several threads run one context. What belongs together runs in a strand; and a handler
// that blocks holds up none of the others.
#include <atomic>
#include <cstdio>
#include <future>
#include <thread>
#include <vector>
#include <weft.hpp>

struct account {
  explicit account(weft::io_context& context) : strand(weft::make_strand(context)) {}
  weft::strand<weft::io_context::executor_type> strand;
  int balance = 0;  // only functions of the strand touch it
};

int main() {
  weft::io_context context;
  account a(context), b(context);
  std::promise<void> paid;
  weft::post(context, [&] { paid.get_future().wait(); });  // holds one thread, until all is paid
  std::atomic<int> left = 2000;
  for (int i = 0; i != 1000; ++i)
    for (account* to : {&a, &b})
      weft::post(to->strand, [&, to] {
        ++to->balance;
        if (--left == 0)
          paid.set_value();
      });
  std::vector<std::thread> pool;
  for (int i = 0; i != 4; ++i)
    pool.emplace_back([&] { context.run(); });
  for (std::thread& t : pool)
    t.join();
  std::printf("a: %d, b: %d\n", a.balance, b.balance);
}
