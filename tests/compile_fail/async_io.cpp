// SPDX-License-Identifier: BSL-1.0
// Operations on I/O objects take memory of the right kind, durations of the right clock, executors
// and contexts, and streams.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/dynamic_buffer.hpp>
#include <weft/io/random_access_file.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_at.hpp>
#include <weft/io/read_until.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/system_timer.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>

using namespace std::chrono_literals;
using weft::error_code;
using weft::ip::tcp;

int main() {
  weft::io_context context;
  weft::steady_timer timer(context);
  tcp::socket socket(context);
  tcp::acceptor acceptor(context);
  weft::ip::udp::socket datagrams(context);
  weft::random_access_file file(context);
  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  std::string text;
  const std::string constant = "constant";
  std::array<char, 8> data;
  const auto done = [](error_code, std::size_t) {};

  socket.async_read_some(weft::buffer(data), done);
  socket.async_write_some(weft::buffer(constant), done);
  weft::async_read(socket, weft::buffer(data), done);
  weft::async_read(socket, weft::dynamic_buffer(text), done);
  weft::async_read_until(socket, weft::dynamic_buffer(text), '\n', done);
  weft::async_write(socket, weft::buffer(constant), done);
  weft::async_read_at(file, 0, weft::buffer(data), done);
  in.async_read_some(weft::buffer(data), done);
  out.async_write_some(weft::buffer(constant), done);
  timer.expires_after(3s);
  timer.expires_at(weft::steady_timer::clock_type::now() + 3s);

#if WEFT_BAD == 1
  // bad 1: async_read_some.{0,2000}mutable_sequence
  socket.async_read_some(weft::buffer(constant), done);
#elif WEFT_BAD == 2
  // bad 2: async_read_some.{0,2000}mutable_sequence
  socket.async_read_some(weft::dynamic_buffer(text), done);
#elif WEFT_BAD == 3
  // bad 3: async_write_some.{0,2000}const_sequence
  socket.async_write_some(weft::dynamic_buffer(text), done);
#elif WEFT_BAD == 4
  // bad 4: async_write_some.{0,2000}const_sequence
  socket.async_write_some(constant, done);
#elif WEFT_BAD == 5
  // bad 5: async_read.{0,2000}read_buffers
  weft::async_read(socket, weft::buffer(constant), done);
#elif WEFT_BAD == 6
  // bad 6: async_read.{0,2000}read_buffers
  weft::async_read(socket, text, done);
#elif WEFT_BAD == 7
  // bad 7: async_read_until.{0,2000}makes_dynamic_target
  weft::async_read_until(socket, weft::buffer(data), '\n', done);
#elif WEFT_BAD == 8
  // bad 8: async_write.{0,2000}(write_buffers|const_sequence)
  weft::async_write(socket, constant, done);
#elif WEFT_BAD == 9
  // bad 9: async_read_at.{0,2000}(read_buffers|mutable_sequence)
  weft::async_read_at(file, 0, weft::buffer(constant), done);
#elif WEFT_BAD == 10
  // bad 10: has no member named .?async_read_some|no member named 'async_read_some'
  weft::async_read(acceptor, weft::buffer(data), done);
#elif WEFT_BAD == 11
  // bad 11: has no member named .?async_write_some|no member named 'async_write_some'
  in.async_write_some(weft::buffer(constant), done);
#elif WEFT_BAD == 12
  // bad 12: has no member named .?async_read_some|no member named 'async_read_some'
  out.async_read_some(weft::buffer(data), done);
#elif WEFT_BAD == 13
  // bad 13: (could not|cannot) convert|could not bind to an rvalue of type 'int'|no matching
  // function for call to .{0,60}expires_after|no viable conversion
  timer.expires_after(3);
#elif WEFT_BAD == 14
  // bad 14: (could not|cannot) convert|no known conversion|no viable conversion
  timer.expires_at(std::chrono::system_clock::now());
#elif WEFT_BAD == 15
  // bad 15: (could not|cannot) convert|no known conversion|no viable conversion
  timer.expires_after(std::chrono::duration<double>(1.5));
#elif WEFT_BAD == 16
  // bad 16: (could not|cannot) convert|no known conversion|no viable conversion
  timer.expires_at(3s);
#elif WEFT_BAD == 17
  // bad 17: no matching function for call to .{0,20}cancel_after
  timer.async_wait(weft::cancel_after(3, [](error_code) {}));
#elif WEFT_BAD == 18
  // bad 18: no matching (function for call to|constructor for initialization of)
  weft::steady_timer nowhere(7);
#elif WEFT_BAD == 19
  // bad 19: no matching (function for call to|constructor for initialization of)
  weft::steady_timer nowhere;
#elif WEFT_BAD == 20
  // bad 20: deleted (function|constructor)|deleted copy constructor
  weft::steady_timer copy = timer;
#elif WEFT_BAD == 21
  // bad 21: async_receive_from.{0,2000}mutable_sequence
  weft::ip::udp::endpoint from;
  datagrams.async_receive_from(weft::buffer(constant), from, done);
#elif WEFT_BAD == 22
  // bad 22: no match
  tcp::endpoint from;
  datagrams.async_receive_from(weft::buffer(data), from, done);
#elif WEFT_BAD == 23
  // bad 23: no match
  acceptor.async_accept(datagrams, [](error_code) {});
#endif
}
