// SPDX-License-Identifier: BSL-1.0
// Lesson 5: a strand runs its functions one at a time and in order, however many threads there are.
#include <cstdio>
#include <vector>
#include <weft.hpp>

int main() {
  weft::thread_pool pool(4);
  const auto strand = weft::make_strand(pool);
  std::vector<int> order;  // no lock: only functions of the strand touch it
  for (int i = 0; i < 1000; ++i)
    weft::post(strand, [&order, i] { order.push_back(i); });
  pool.join();
  bool sorted = order.size() == 1000;
  for (int i = 0; sorted && i < 1000; ++i)
    sorted = order[static_cast<std::size_t>(i)] == i;
  std::puts(sorted ? "1000 in order" : "out of order");
}
