// SPDX-License-Identifier: BSL-1.0
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <map>

#include "run.hpp"

int main(int argc, char** argv) {
  using weft::backend_kind;
  CLI::App app(
      "weft-demo: echo over TCP, UDP and UNIX-domain sockets.\n"
      "Without a subcommand it serves and drives all three on each backend that the kernel\n"
      "allows, checks every byte that comes back, and closes with a table. Ports and paths are\n"
      "picked free. It ends with 1 if there was an error.");
  const std::map<std::string, backend_kind> names{{"epoll", backend_kind::epoll},
                                                  {"uring", backend_kind::uring}};
  unsigned connections = 64;
  double seconds = 2;
  backend_kind backend = backend_kind::automatic;
  app.add_option("-c,--connections", connections, "Concurrent clients of each run")
      ->check(CLI::Range(1u, 5000u))
      ->capture_default_str();
  app.add_option("-s,--seconds", seconds, "Time for each backend and protocol")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("-b,--backend", backend, "epoll or uring; default: each available one")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case));

  unsigned short port = 0;
  CLI::App* server =
      app.add_subcommand("serve", "Leave the echo servers up, for nc and the like, until Ctrl-C");
  server->add_option("-p,--port", port, "TCP and UDP port; 0: any free one")->capture_default_str();
  server->fallthrough();
  CLI11_PARSE(app, argc, argv);

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
