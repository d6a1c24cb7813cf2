// SPDX-License-Identifier: BSL-1.0
// Lesson 31: a mutex that coroutines wait for. No thread blocks; it is handed over in the order of
// asking, and whoever gives up asking has no part in it.
#include <cstdio>
#include <weft.hpp>

using weft::async_mutex;
using weft::awaitable;

awaitable<void> transfer(async_mutex& mutex, int& account, int amount) {
  auto lock = co_await mutex.async_scoped_lock();
  const int before = account;
  co_await weft::post(weft::deferred);  // others run meanwhile, and find the mutex locked
  account = before + amount;
  std::printf("%d\n", account);
}

int main() {
  weft::io_context context;
  async_mutex mutex(context);
  int account = 100;
  co_spawn(context, transfer(mutex, account, 20), weft::detached);
  co_spawn(context, transfer(mutex, account, -50), weft::detached);

  // A callback waits in the same queue; this one for a moment only.
  weft::cancellation_signal enough;
  weft::post(context, [&] {
    mutex.async_lock(weft::bind_cancellation_slot(enough.slot(), [&](weft::error_code ec) {
      std::printf("%s\n", ec == weft::error::operation_aborted ? "given up" : "locked");
    }));
    enough.emit(weft::cancellation_type::total);
  });
  context.run();
}
