// SPDX-License-Identifier: BSL-1.0
// Lesson 32: several writers, one stream. A write_queue writes whole messages, many with one system
// call, and tells a producer without end when to go on: memory stays bounded, however slowly the
// peer reads.
#include <algorithm>
#include <cstdio>
#include <string>
#include <weft.hpp>

using weft::awaitable;
using stream = weft::local::stream_protocol::socket;

awaitable<void> produce(weft::write_queue<stream&>& out) {
  std::size_t most = 0;
  for (int i = 0; i != 10'000; ++i) {
    co_await out.async_wait_writable();
    out.async_write(std::string(1000, 'x') + "\n", weft::detached);
    most = std::max(most, out.queued());
  }
  co_await out.async_write(std::string("end\n"));
  std::printf("never more than %s queued\n", most < 70'000 ? "70 kB" : "10 MB");
  out.next_layer().close();
}

awaitable<void> consume(stream& in) {
  std::string data;
  std::size_t lines = 0;
  try {
    for (;; ++lines) {
      const std::size_t n = co_await weft::async_read_until(in, weft::dynamic_buffer(data), '\n');
      data.erase(0, n);
    }
  } catch (const weft::system_error&) {}
  std::printf("%zu lines\n", lines);
}

int main() {
  weft::io_context context;
  stream writer(context), reader(context);
  weft::local::connect_pair(writer, reader);
  weft::write_queue out(writer);
  out.async_write(std::string("begin\n"), weft::detached);
  co_spawn(context, produce(out), weft::detached);
  co_spawn(context, consume(reader), weft::detached);
  context.run();
}
