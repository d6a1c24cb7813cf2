// SPDX-License-Identifier: BSL-1.0
// A handler takes the results of its operation and can be moved into it. The message names the
// requirement and the signature.
#include <string>
#include <utility>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/io/process.hpp>
#include <weft/io/read.hpp>
#include <weft/io/signal_set.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/net/tcp.hpp>

using weft::error_code;
using weft::ip::tcp;

struct move_only {
  move_only() = default;
  move_only(move_only&&) = default;
  void operator()(error_code) {}
};
struct callable_if_not_const {
  void operator()(error_code) {}
};
struct copy_only {
  copy_only() = default;
  copy_only(const copy_only&) = default;
  copy_only(copy_only&&) = delete;
  void operator()(error_code) {}
};
struct immovable {
  immovable() = default;
  immovable(immovable&&) = delete;
  void operator()(error_code) {}
};
struct callable_as_lvalue {
  void operator()(error_code) & {}
};
struct callable_once {
  void operator()(error_code) && {}
};

int main() {
  weft::io_context context;
  weft::steady_timer timer(context);
  weft::signal_set signals(context);
  weft::process::child child(context);
  tcp::socket socket(context);
  tcp::acceptor acceptor(context);
  char data[16];

  timer.async_wait(move_only());
  const callable_if_not_const constant;
  timer.async_wait(constant);
  timer.async_wait(callable_once());
  timer.async_wait([](auto&&...) {});
  timer.async_wait([](error_code) { return 1; });
  socket.async_read_some(weft::buffer(data), [](error_code, std::size_t) {});
  weft::async_read(socket, weft::buffer(data), [](error_code, std::size_t) {});
  acceptor.async_accept([](error_code, tcp::socket) {});
  signals.async_wait([](error_code, int) {});
  child.async_wait([](error_code, weft::process::exit_status) {});
  weft::post(context, [] {});

#if WEFT_BAD == 1
  // bad 1: completion_token_for<.{0,200}error_code\)>
  timer.async_wait([](std::string) {});
#elif WEFT_BAD == 2
  // bad 2: completion_token_for<.{0,200}error_code\)>
  timer.async_wait([] {});
#elif WEFT_BAD == 3
  // bad 3: completion_token_for<.{0,200}error_code, (std::size_t|long unsigned int)\)>
  socket.async_read_some(weft::buffer(data), [](error_code) {});
#elif WEFT_BAD == 4
  // bad 4: token_or_handler_for<.{0,300}(transfer_signature|error_code, .{0,20}long)
  weft::async_read(socket, weft::buffer(data), [](std::string) {});
#elif WEFT_BAD == 5
  // bad 5: completion_token_for<.{0,200}error_code, (socket_on|typename Protocol::socket)
  acceptor.async_accept([](error_code, tcp::socket&) {});
#elif WEFT_BAD == 6
  // bad 6: completion_token_for<.{0,200}error_code, int\)>
  signals.async_wait([](error_code, std::string) {});
#elif WEFT_BAD == 7
  // bad 7: completion_token_for<.{0,200}error_code, (weft::process::)?exit_status\)>
  child.async_wait([](error_code, std::string) {});
#elif WEFT_BAD == 8
  // bad 8: token_or_handler_for<.{0,200}void ?\(\)>
  weft::post(context, [](error_code) {});
#elif WEFT_BAD == 9
  // bad 9: completion_token_for<.{0,100}immovable
  timer.async_wait(immovable());
#elif WEFT_BAD == 10
  // bad 10: completion_token_for<.{0,100}copy_only
  timer.async_wait(copy_only());
#elif WEFT_BAD == 11
  // bad 11: deleted (function|copy constructor).{0,100}move_only
  move_only handler;
  timer.async_wait(handler);
#elif WEFT_BAD == 12
  // bad 12: deleted (function|copy constructor).{0,100}move_only
  const move_only unchanging;
  timer.async_wait(std::move(unchanging));
#elif WEFT_BAD == 13
  // bad 13: completion_token_for<.{0,100}callable_as_lvalue
  timer.async_wait(callable_as_lvalue());
#elif WEFT_BAD == 14
  // bad 14: completion_token_for<.{0,200}error_code\)>
  timer.async_wait("done");
#elif WEFT_BAD == 15
  // bad 15: completion_token_for<.{0,200}error_code\)>
  timer.async_wait(nullptr);
#endif
}
