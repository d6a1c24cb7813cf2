// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "harness/models.hpp"

// Strands on one context, in each of which a handler posts the next to the same strand. Reported
// beside the time: how often a strand went on in another thread than before, and what a strand
// takes of the heap before anything is posted to it.
namespace strand_hops {

/// One in each strand, touched by its handlers only.
struct place {
  std::thread::id thread;
  std::uint64_t moves = 0;
  std::uint64_t hops = 0;
};

template <class Strand>
struct hop {
  const Strand* on;
  place* at;
  std::uint64_t left;

  void operator()() const {
    const std::thread::id thread = std::this_thread::get_id();
    at->moves += at->hops != 0 && at->thread != thread;
    at->thread = thread;
    ++at->hops;
    if (left != 1)
      post(*on, hop{on, at, left - 1});
  }
};

inline std::size_t heap() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <class Net>
bench::result run(const bench::model& m, std::uint64_t count, std::uint64_t hops) {
  using strand = typename Net::strand;
  bench::contexts<Net> contexts(m);
  std::vector<place> places(count);
  std::vector<strand> strands;
  strands.reserve(count);
  const std::size_t before = heap();
  for (std::uint64_t i = 0; i != count; ++i)
    strands.emplace_back(contexts[0]);
  const std::size_t bytes = heap() - before;
  for (std::uint64_t i = 0; i != count; ++i)
    post(strands[i], hop<strand>{&strands[i], &places[i], hops / count});
  contexts.run();
  place sum;
  for (const place& each : places) {
    sum.moves += each.moves;
    sum.hops += each.hops;
  }
  return {.operations = sum.hops,
          .figures = {{"moves_per_1000", 1000 * double(sum.moves) / double(sum.hops)},
                      {"strand_bytes", double(bytes) / double(count)}}};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const bench::model m(argc, argv);
  const std::uint64_t strands = bench::option(argc, argv, "--strands", 64);
  const std::uint64_t hops = bench::option(argc, argv, "--hops", 2'000'000);
  return bench::measure("strand_hops", name, Net::version() + ", " + m.note(),
                        [&] { return run<Net>(m, strands, hops); });
}

}  // namespace strand_hops
