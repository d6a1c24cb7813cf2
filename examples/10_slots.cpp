// SPDX-License-Identifier: BSL-1.0
// Lesson 10: cancelling one operation of several on the same object, by a cancellation signal.
#include <cstdio>
#include <weft.hpp>

int main() {
  weft::io_context context;
  weft::local::datagram_protocol::socket near(context), far(context);
  weft::local::connect_pair(near, far);
  weft::cancellation_signal signal;
  char first[8], second[8];
  near.async_receive(
      weft::buffer(first),
      weft::bind_cancellation_slot(signal.slot(), [&](weft::error_code ec, std::size_t) {
        std::printf("first: %s\n", ec ? "cancelled" : "received");
        far.send(weft::buffer("x", 1));
      }));
  near.async_receive(weft::buffer(second), [](weft::error_code ec, std::size_t n) {
    std::printf("second: %zu byte, %s\n", n, ec ? "error" : "no error");
  });
  signal.emit(weft::cancellation_type::terminal);
  context.run();
}
