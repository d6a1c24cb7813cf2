// SPDX-License-Identifier: BSL-1.0
#include <asio.hpp>
#include <future>

#include "future.hpp"
#include "harness/asio_net.hpp"

// Asio has no callbacks on futures: the nearest is a std::promise that one handler fulfils, and a
// second handler, posted by the first, that takes the value.
int main(int argc, char** argv) {
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("future", "asio", bench::asio_net::version(), [&] {
    asio::io_context context(1);
    return futures::run(
        context, count, [](auto& c, auto f) { asio::post(c, std::move(f)); },
        [&](std::uint64_t i, std::uint64_t& sum) {
          std::promise<std::uint64_t> promise;
          auto future = promise.get_future();
          asio::post(context, [&, i, p = std::move(promise), f = std::move(future)]() mutable {
            p.set_value(i);
            asio::post(context, [&sum, g = std::move(f)]() mutable { sum += g.get(); });
          });
        });
  });
}
