// SPDX-License-Identifier: BSL-1.0
// Lesson 11: names are resolved without holding a thread, and the lookup can be cancelled.
#include <cstdio>
#include <weft.hpp>

using weft::ip::tcp;

int main() {
  weft::io_context context;
  tcp::resolver resolver(context);
  resolver.async_resolve(
      "127.0.0.1", "80", [](weft::error_code ec, tcp::resolver::results_type results) {
        if (ec)
          std::printf("%s\n", ec.message().c_str());
        for (const auto& entry : results)
          std::printf("%s port %u\n", entry.endpoint().address().to_string().c_str(),
                      unsigned(entry.endpoint().port()));
      });
  context.run();
}
