// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "harness/models.hpp"
#include "harness/phases.hpp"

// Handlers that are all queued before the first is run, each a loop of `turns` turns. Queueing
// (from one thread) and running are timed apart, per handler. Separate contexts share the handlers
// out. With half-sync/half-async they are queued for the I/O thread, which hands each to the pool.
namespace prefilled {

struct parameters : bench::model {
  std::uint64_t handlers;
  std::uint64_t turns;

  parameters(int argc, char** argv)
      : model(argc, argv),
        handlers(bench::option(argc, argv, "--handlers", 1'000'000)),
        turns(bench::option(argc, argv, "--turns", 0)) {}
};

struct handler {
  std::uint64_t turns;
  void operator()() const { bench::turn(turns); }
};

template <class Contexts>
void queue(Contexts& contexts, const parameters& p) {
  if (p.half_sync) {
    for (std::uint64_t k = 0; k != p.handlers; ++k)
      post(contexts.io(), bench::hand_over{contexts[0], handler{p.turns}});
    return;
  }
  const std::uint64_t count = contexts.size();
  for (std::uint64_t i = 0; i != count; ++i) {
    const auto on = contexts[i];
    for (std::uint64_t k = p.handlers * i / count; k != p.handlers * (i + 1) / count; ++k)
      post(on, handler{p.turns});
  }
}

template <class Net>
bench::result run(const parameters& p) {
  bench::contexts<Net> contexts(p);
  bench::phases phases;
  queue(contexts, p);
  phases.end("queue_ns", p.handlers);
  const std::uint64_t ran = contexts.run();
  phases.end("run_ns", p.handlers);
  return {.operations = ran, .figures = phases.figures("sum_ns")};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("prefilled", name, Net::version() + ", " + p.note(),
                        [&] { return run<Net>(p); });
}

}  // namespace prefilled
