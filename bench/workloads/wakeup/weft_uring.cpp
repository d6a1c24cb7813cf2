// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "context_loop.hpp"

int main(int argc, char** argv) {
  using net = bench::weft_net;
  const wakeup::parameters p(argc, argv);
  return bench::measure("wakeup", "weft_uring", net::version() + ", io_context{1}", [&] {
    weft::io_context context({.concurrency_hint = 1, .backend = weft::backend_kind::uring});
    return wakeup::run_on<net>(context, p);
  });
}
