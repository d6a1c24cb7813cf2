// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <weft/context/io_context.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/write.hpp>
#include <weft/net/tcp.hpp>

#include "harness/weft_backend.hpp"

#include "echo.hpp"

namespace tcp_echo {

struct weft_net {
  using io_context = weft::io_context;
  using tcp = weft::ip::tcp;
  using error_code = weft::error_code;
  static auto buffer(block& b, std::size_t n) { return weft::buffer(b, n); }
};

inline int run_weft(int argc, char** argv, weft::backend_kind backend, const char* name,
                    bool single_thread = false) {
  const parameters p(argc, argv);
  const int threads = static_cast<int>(p.threads);
  const std::string note =
      single_thread ? "io_context{single_thread}" : "io_context{" + std::to_string(threads) + "}";
  return bench::measure("tcp_echo", name, note, [&] {
    weft::io_context context({.concurrency_hint = threads,
                              .single_thread = single_thread,
                              .backend = bench::available(backend)});
    return run<weft_net>(context, p);
  });
}

}  // namespace tcp_echo
