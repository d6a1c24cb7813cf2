// SPDX-License-Identifier: BSL-1.0
#include "weft_echo.hpp"

// The opt-in that binds the context to one thread, where io_uring may defer its task work.
int main(int argc, char** argv) {
  const unix_echo::parameters p(argc, argv);
  return bench::measure("unix_echo", "weft_uring_single", "io_context{single_thread}", [&] {
    weft::io_context context(
        {.single_thread = true, .backend = bench::available(weft::backend_kind::uring)});
    return unix_echo::run<unix_echo::weft_net>(context, p);
  });
}
