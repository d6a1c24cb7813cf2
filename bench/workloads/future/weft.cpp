// SPDX-License-Identifier: BSL-1.0
#include <weft.hpp>

#include "future.hpp"
#include "harness/weft_net.hpp"

int main(int argc, char** argv) {
  using future = weft::future<std::uint64_t>;
  const bool with_then = bench::option(argc, argv, "--what", 0) == 1;
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("future", "weft", bench::weft_net::version(), [&] {
    weft::io_context context(1);
    return futures::run(
        context, count, [](auto& c, auto f) { weft::post(c, std::move(f)); },
        [&](std::uint64_t i, std::uint64_t& sum) {
          future f = weft::async(context, [i] { return i; });
          if (with_then)
            f = f.then([](future r) { return r.get(); });
          f.attach_callback([&sum](future r) { sum += r.get(); });
        });
  });
}
