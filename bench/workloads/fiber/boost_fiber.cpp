// SPDX-License-Identifier: BSL-1.0
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/run.hpp"

// The same as fibers.hpp, for a library with a vocabulary of its own: --what 0 and --what 3.
namespace {

using boost::fibers::fiber;

class program {
 public:
  std::uint64_t turns(std::uint64_t count) {
    constexpr std::uint64_t crowd = 100;
    std::uint64_t sum = 0;
    std::vector<fiber> all;
    for (std::uint64_t n = 0; n != crowd; ++n)
      all.emplace_back(boost::fibers::launch::post, std::allocator_arg, stacks_, [&, n] {
        for (std::uint64_t i = n; i < count; i += crowd) {
          sum += i;
          boost::this_fiber::yield();
        }
      });
    for (fiber& f : all)
      f.join();
    return sum;
  }

  std::uint64_t join(std::uint64_t count) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i != count; ++i)
      fiber(boost::fibers::launch::post, std::allocator_arg, stacks_, [i, &sum] {
        sum += i;
      }).join();
    return sum;
  }

 private:
  boost::context::pooled_fixedsize_stack stacks_{64 * 1024};
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  program p;
  return bench::measure("fiber", "boost_fiber", "Boost " BOOST_LIB_VERSION ", pooled stacks", [&] {
    return bench::result{.operations = count,
                         .checksum = what == 0 ? p.turns(count) : p.join(count)};
  });
}
