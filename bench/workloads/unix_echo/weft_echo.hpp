// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/io_context.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/local.hpp>

#include "harness/weft_backend.hpp"

#include "echo.hpp"

namespace unix_echo {

struct weft_net {
  using io_context = weft::io_context;
  using socket = weft::local::stream_protocol::socket;
  using error_code = weft::error_code;
  static auto buffer(peer::message& m) { return weft::buffer(m); }
  static void connect_pair(socket& a, socket& b) { weft::local::connect_pair(a, b); }
};

inline int run_weft(int argc, char** argv, weft::backend_kind backend, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("unix_echo", name, "io_context{1}", [&] {
    weft::io_context context({.concurrency_hint = 1, .backend = bench::available(backend)});
    return run<weft_net>(context, p);
  });
}

}  // namespace unix_echo
