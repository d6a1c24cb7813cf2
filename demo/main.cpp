// SPDX-License-Identifier: BSL-1.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "run.hpp"

int main(int argc, char** argv) {
  using weft::backend_kind;
  CLI::App app(
      "weft-demo: echo over TCP, UDP and UNIX-domain sockets.\n"
      "Without a subcommand it serves and drives all three on each backend that the kernel\n"
      "allows, checks every byte that comes back, and closes with a table. Ports and paths are\n"
      "picked free. It ends with 1 if there was an error.");
  unsigned connections = 64;
  double seconds = 2;
  std::string name;
  app.add_option("-c,--connections", connections, "Concurrent clients of each run")
      ->check(CLI::Range(1u, 5000u))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-s,--seconds", seconds, "Time for each backend and protocol")
      ->check(CLI::Range(0.1, 3600.0))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("-b,--backend", name, "epoll or uring; default: each available one")
      ->check([](const std::string& s) {
        return s == "epoll" || s == "uring" ? "" : s + " is neither epoll nor uring";
      })
      ->type_name("NAME");

  unsigned short port = 0;
  CLI::App* server =
      app.add_subcommand("serve", "Leave the echo servers up, for nc and the like, until Ctrl-C");
  server->add_option("-p,--port", port, "TCP and UDP port; 0: any free one")
      ->type_name("N")
      ->capture_default_str();
  server->fallthrough();
  CLI11_PARSE(app, argc, argv);
  const backend_kind backend = name == "epoll"   ? backend_kind::epoll
                               : name == "uring" ? backend_kind::uring
                                                 : backend_kind::automatic;

  try {
    if (*server) {
      demo::serve(port, backend);
      return 0;
    }
    demo::run_options options;
    options.connections = connections;
    options.time = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
    if (backend != backend_kind::automatic) {
      options.backends = {backend};
    } else {
      options.backends = {backend_kind::epoll};
      if (weft::backend_available(backend_kind::uring))
        options.backends.push_back(backend_kind::uring);
    }
    return demo::run(options) == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-demo: {}\n", e.what());
    return 1;
  }
}
