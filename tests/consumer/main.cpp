// SPDX-License-Identifier: BSL-1.0
// What a user's first program needs of the installed library: its headers, its compiled core, and
// the libraries behind it (io_uring, c-ares).
#include <chrono>
#include <weft.hpp>

int main() {
  weft::io_context context;
  int ran = 0;
  weft::steady_timer timer(context, std::chrono::milliseconds(1));
  timer.async_wait([&ran](weft::error_code ec) { ran += ec ? 0 : 1; });
  weft::post(context, [&ran] { ++ran; });
  weft::ip::tcp::resolver resolver(context);
  resolver.async_resolve("127.0.0.1", "80", [&ran](weft::error_code ec, const auto& results) {
    ran += !ec && !results.empty() ? 1 : 0;
  });
  context.run();
  return ran == 3 ? 0 : 1;
}
