// SPDX-License-Identifier: BSL-1.0
#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "echo_server.hpp"
#include "run.hpp"

namespace demo {

void serve(unsigned short port, weft::backend_kind backend) {
  namespace ip = weft::ip;
  using local = weft::local::stream_protocol;
  weft::io_context context({.concurrency_hint = 1, .backend = backend});
  const auto any = ip::address_v4::any();
  stream_echo_server<ip::tcp> tcp(context, ip::tcp::endpoint(any, port));
  // UDP at the port that TCP got, so that one number serves both.
  datagram_echo_server udp(context, ip::udp::endpoint(any, tcp.local_endpoint().port()));
  const std::string path = socket_path();
  stream_echo_server<local> unix_domain(context, local::endpoint(path));
  weft::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](weft::error_code, int) { context.stop(); });

  const unsigned bound = tcp.local_endpoint().port();
  fmt::print(
      "serving echo on {} until Ctrl-C\n"
      "  TCP   0.0.0.0:{}   try: nc 127.0.0.1 {}\n"
      "  UDP   0.0.0.0:{}   try: nc -u 127.0.0.1 {}\n"
      "  UNIX  {}   try: nc -U {}\n",
      weft::to_string(context.backend()), bound, bound, bound, bound, path, path);
  std::fflush(stdout);
  context.run();
  std::filesystem::remove(path);
  fmt::print("\nended\n");
}

}  // namespace demo
