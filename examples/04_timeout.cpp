// SPDX-License-Identifier: BSL-1.0
// Lesson 4: any operation can be given a deadline, by an adapter of its completion token.
#include <array>
#include <cstdio>
#include <weft.hpp>

using namespace std::chrono_literals;

int main() {
  weft::io_context context;
  weft::local::stream_protocol::socket near(context), far(context);
  weft::local::connect_pair(near, far);
  std::array<char, 16> data;
  near.async_read_some(weft::buffer(data),
                       weft::cancel_after(5ms, [](weft::error_code ec, std::size_t n) {
                         std::printf("%zu bytes: %s\n", n, ec.message().c_str());
                       }));
  context.run();
}
