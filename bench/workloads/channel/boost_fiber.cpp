// SPDX-License-Identifier: BSL-1.0
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>
#include <cstdint>
#include <thread>

#include "harness/run.hpp"

// The same as channel.hpp between fibers, for a library with a vocabulary of its own. Its channels
// are thread-safe all; one with room holds one value less than it is told.
namespace {

using boost::fibers::fiber;
using buffered = boost::fibers::buffered_channel<std::uint64_t>;
using unbuffered = boost::fibers::unbuffered_channel<std::uint64_t>;
constexpr auto post = boost::fibers::launch::post;

template <class C>
void produce(C& c, std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i)
    c.push(i);
}

template <class C>
std::uint64_t consume(C& c, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != count; ++i)
    sum += c.value_pop();
  return sum;
}

std::uint64_t one_thread(std::uint64_t count) {
  buffered c(1024);
  fiber producer(post, [&] { produce(c, count); });
  const std::uint64_t sum = consume(c, count);
  producer.join();
  return sum;
}

std::uint64_t two_threads(std::uint64_t count) {
  buffered c(1024);
  std::thread producer([&] { produce(c, count); });
  const std::uint64_t sum = consume(c, count);
  producer.join();
  return sum;
}

std::uint64_t ping_pong(std::uint64_t count) {
  unbuffered there;
  unbuffered back;
  fiber pong(post, [&] {
    for (std::uint64_t i = 0; i != count; ++i)
      back.push(there.value_pop());
  });
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != count; ++i) {
    there.push(i);
    sum += back.value_pop();
  }
  pong.join();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 1);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("channel", "boost_fiber", "Boost " BOOST_LIB_VERSION, [&] {
    return bench::result{.operations = count,
                         .checksum = what == 1   ? one_thread(count)
                                     : what == 2 ? two_threads(count)
                                                 : ping_pong(count)};
  });
}
