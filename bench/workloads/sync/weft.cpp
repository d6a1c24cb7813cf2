// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <weft.hpp>

#include "harness/run.hpp"
#include "harness/weft_net.hpp"

// What waiting for each other costs on one thread, with objects of policy `local` (--local 1) or
// thread-safe ones:
//   --what 0  lock and unlock a free mutex: try_lock
//   --what 1  the same in a coroutine: co_await async_lock
//   --what 2  hand a mutex over, between two coroutines that want it at the same time
//   --what 3  let another coroutine go on, and wait for it: automatic events, there and back
namespace {

using weft::awaitable;

template <class Policy>
std::uint64_t try_lock(weft::io_context& context, std::uint64_t count) {
  weft::basic_async_mutex<Policy> mutex(context);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != count; ++i)
    if (mutex.try_lock()) {
      ++sum;
      asm volatile("" ::: "memory");  // what the mutex guards: it is locked indeed
      mutex.unlock();
    }
  return sum;
}

template <class Policy>
awaitable<void> lock(weft::basic_async_mutex<Policy>& mutex, std::uint64_t count,
                     std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i) {
    co_await mutex.async_lock();
    ++sum;
    mutex.unlock();
  }
}

// The unlock hands over, so each lock waits for the other coroutine's unlock.
template <class Policy>
awaitable<void> contend(weft::basic_async_mutex<Policy>& mutex, std::uint64_t count,
                        std::uint64_t& sum) {
  auto mine = co_await mutex.async_scoped_lock();
  for (std::uint64_t i = 0; i != count; ++i) {
    ++sum;
    mine.unlock();
    mine = co_await mutex.async_scoped_lock();
  }
}

template <class Policy>
awaitable<void> play(weft::basic_async_event<Policy>& mine, weft::basic_async_event<Policy>& other,
                     std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i) {
    co_await mine.async_wait();
    ++sum;
    other.set();
  }
}

template <class Policy>
bench::result run(std::uint64_t what, std::uint64_t count) {
  weft::io_context context(1);
  std::uint64_t sum = 0;
  weft::basic_async_mutex<Policy> mutex(context);
  weft::basic_async_event<Policy> ping(context, weft::event_reset::automatic);
  weft::basic_async_event<Policy> pong(context, weft::event_reset::automatic);
  if (what == 0) {
    sum = try_lock<Policy>(context, count);
  } else if (what == 1) {
    co_spawn(context, lock(mutex, count, sum), weft::detached);
  } else if (what == 2) {
    for (int i = 0; i != 2; ++i)
      co_spawn(context, contend(mutex, count / 2, sum), weft::detached);
  } else {
    co_spawn(context, play(ping, pong, count, sum), weft::detached);
    co_spawn(context, play(pong, ping, count, sum), weft::detached);
    ping.set();
  }
  context.run();
  return {.operations = count, .checksum = sum};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  const bool is_local = bench::option(argc, argv, "--local", 0) != 0;
  return bench::measure("sync", "weft", bench::weft_net::version(), [&] {
    return is_local ? run<weft::sharing::local>(what, count)
                    : run<weft::sharing::concurrent>(what, count);
  });
}
