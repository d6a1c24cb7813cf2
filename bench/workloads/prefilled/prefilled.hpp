// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>

#include "harness/models.hpp"

// Handlers that are all queued before the first is run, each a loop of `turns` turns. Queueing
// (from one thread) and running are timed apart, per handler. Separate contexts share the handlers
// out.
namespace prefilled {

struct parameters : bench::model {
  std::uint64_t handlers;
  std::uint64_t turns;
  std::uint64_t repeats;  // with the memory of the first time at hand

  parameters(int argc, char** argv)
      : model(argc, argv),
        handlers(bench::option(argc, argv, "--handlers", 1'000'000)),
        turns(bench::option(argc, argv, "--turns", 0)),
        repeats(bench::option(argc, argv, "--repeats", 1)) {}
};

struct handler {
  std::uint64_t turns;
  void operator()() const { bench::turn(turns); }
};

template <class Net>
bench::result run(const parameters& p) {
  using clock = std::chrono::steady_clock;
  clock::duration queueing{};
  clock::duration running{};
  bench::result result;
  bench::contexts<Net> contexts(p);
  for (std::uint64_t repeat = 0; repeat != p.repeats; ++repeat) {
    contexts.restart();
    const auto start = clock::now();
    const std::uint64_t count = contexts.size();
    for (std::uint64_t i = 0; i != count; ++i) {
      const auto on = contexts[i];
      for (std::uint64_t k = p.handlers * i / count; k != p.handlers * (i + 1) / count; ++k)
        post(on, handler{p.turns});
    }
    const auto queued = clock::now();
    result.operations += contexts.run();
    queueing += queued - start;
    running += clock::now() - queued;
  }
  const auto each = [&](clock::duration d) {
    return std::chrono::duration<double, std::nano>(d).count() / double(result.operations);
  };
  result.figures = {{"queue_ns", each(queueing)},
                    {"run_ns", each(running)},
                    {"sum_ns", each(queueing + running)}};
  return result;
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("prefilled", name, Net::version() + ", " + p.note(),
                        [&] { return run<Net>(p); });
}

}  // namespace prefilled
