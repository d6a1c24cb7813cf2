// SPDX-License-Identifier: BSL-1.0
// Lesson 12: one program, both backends. What is not available is said, not guessed.
#include <cstdio>
#include <weft.hpp>

int main() {
  for (const auto kind : {weft::backend_kind::epoll, weft::backend_kind::uring}) {
    if (!weft::backend_available(kind)) {
      std::printf("%s: not available here\n", weft::to_string(kind));
      continue;
    }
    weft::io_context context({.backend = kind});
    weft::local::stream_protocol::socket near(context), far(context);
    weft::local::connect_pair(near, far);
    char c = 0;
    near.async_read_some(weft::buffer(&c, 1), [&](weft::error_code, std::size_t) {
      std::printf("%s: received %c\n", weft::to_string(context.backend()), c);
    });
    weft::write(far, weft::buffer("x", 1));
    context.run();
  }
}
