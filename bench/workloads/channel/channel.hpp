// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "harness/resident.hpp"
#include "harness/run.hpp"

// What channels cost, between coroutines, over a library with Asio's vocabulary, which the
// including file names `lib`:
//   --what 0  1,024 values of room, both ends on one thread, a channel for one thread
//   --what 1  the same, a channel that is thread-safe
//   --what 2  the same, the ends on two threads
//   --what 3  no room, ping-pong on one thread, a channel for one thread
//   --what 4  the same, a channel that is thread-safe
//   --what 5  the memory of coroutines that wait on a channel
// The including file also defines, for a channel type C,
//   awaitable<void> send(C&, std::uint64_t) and awaitable<std::uint64_t> receive(C&), as macros of
//   expressions SEND(c, v) and RECEIVE(c), to be awaited,
// and the types local_channel and concurrent_channel.
namespace channel {

template <class C>
lib::awaitable<void> produce(C& c, std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i)
    co_await SEND(c, i);
}

template <class C>
lib::awaitable<void> consume(C& c, std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i)
    sum += co_await RECEIVE(c);
}

template <class C>
lib::awaitable<void> ping(C& there, C& back, std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i) {
    co_await SEND(there, i);
    sum += co_await RECEIVE(back);
  }
}

template <class C>
lib::awaitable<void> pong(C& there, C& back, std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i) {
    const std::uint64_t value = co_await RECEIVE(there);
    co_await SEND(back, value);
  }
}

template <class C>
void one_thread(std::uint64_t count, std::uint64_t& sum) {
  lib::io_context context(1);
  C c(context, 1024);
  co_spawn(context, produce(c, count), lib::detached);
  co_spawn(context, consume(c, count, sum), lib::detached);
  context.run();
}

template <class C>
void two_threads(std::uint64_t count, std::uint64_t& sum) {
  lib::io_context context(1);
  lib::io_context other(1);
  C c(context, 1024);
  co_spawn(context, produce(c, count), lib::detached);
  co_spawn(other, consume(c, count, sum), lib::detached);
  std::thread thread([&] { other.run(); });
  context.run();
  thread.join();
}

template <class C>
void ping_pong(std::uint64_t count, std::uint64_t& sum) {
  lib::io_context context(1);
  C there(context, 0);
  C back(context, 0);
  co_spawn(context, ping(there, back, count, sum), lib::detached);
  co_spawn(context, pong(there, back, count), lib::detached);
  context.run();
}

template <class C>
bench::figure waiting(std::uint64_t count, std::uint64_t& sum) {
  lib::io_context context(1);
  C c(context, 0);
  const auto wait = [&] {
    for (std::uint64_t i = 0; i != count; ++i)
      co_spawn(context, consume(c, 1, sum), lib::detached);
    context.poll();
    context.restart();
  };
  const std::uint64_t before = bench::resident_memory();
  wait();
  const std::uint64_t after = bench::resident_memory();
  co_spawn(context, produce(c, count), lib::detached);
  context.run();
  return {"waiting_bytes", double(after - before) / double(count)};
}

inline bench::result run(std::uint64_t what, std::uint64_t count) {
  bench::result r{.operations = count};
  switch (what) {
    case 0: one_thread<local_channel>(count, r.checksum); break;
    case 1: one_thread<concurrent_channel>(count, r.checksum); break;
    case 2: two_threads<concurrent_channel>(count, r.checksum); break;
    case 3: ping_pong<local_channel>(count, r.checksum); break;
    case 4: ping_pong<concurrent_channel>(count, r.checksum); break;
    default: r.figures.push_back(waiting<concurrent_channel>(count, r.checksum));
  }
  return r;
}

inline int main(int argc, char** argv, const char* name, const std::string& version) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("channel", name, version, [&] { return run(what, count); });
}

}  // namespace channel
