// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/writable_pipe.hpp>

#include "harness/weft_backend.hpp"
#include "harness/weft_net.hpp"

#include "context_loop.hpp"

namespace wakeup {

struct weft_net : bench::weft_net {
  using readable_pipe = weft::readable_pipe;
  using writable_pipe = weft::writable_pipe;
  static auto buffer(std::array<char, 1>& data) { return weft::buffer(data); }
};

inline int run_weft(int argc, char** argv, weft::backend_kind backend, const char* name,
                    std::chrono::nanoseconds spin = {}) {
  const parameters p(argc, argv);
  return bench::measure("wakeup", name, weft_net::version() + ", io_context{1}", [&] {
    weft::io_context context(
        {.concurrency_hint = 1, .backend = bench::available(backend), .spin = spin});
    return run_on<weft_net>(context, p);
  });
}

}  // namespace wakeup
