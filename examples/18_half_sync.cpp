// SPDX-License-Identifier: BSL-1.0
// Lesson 18: half synchronous, half asynchronous. One thread does all I/O; what computes or blocks
// goes to a pool of workers, and its result comes back to that thread.
#include <cstdio>
#include <thread>
#include <weft.hpp>

int factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}

int main() {
  weft::io_context io;
  weft::thread_pool workers(2);
  auto guard = weft::make_work_guard(io);  // io.run() stays, though there is nothing to do yet
  std::thread io_thread([&] { io.run(); });

  int sum = 0;  // only handlers of io touch it
  for (int n = 1; n <= 5; ++n)
    weft::post([n] { return factorial(n); }, workers,                         // runs in the pool
               weft::bind_executor(io, [&](int result) { sum += result; }));  // in io_thread
  guard.reset();  // each handler that is still to come keeps io running as well
  io_thread.join();
  workers.join();
  std::printf("1! + ... + 5! = %d\n", sum);
}
