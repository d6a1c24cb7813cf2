// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <thread>

#include "harness/models.hpp"

// One thread, outside of the model's, queues handlers while they are run. Separate contexts get
// them in turn.
namespace producer {

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

template <class Net>
bench::result run(const parameters& p) {
  bench::contexts<Net> contexts(p);
  auto work = contexts.keep_running();
  std::thread producing([&] {
    for (std::uint64_t i = 0; i != p.handlers; ++i)
      post(contexts[i % contexts.size()], handler{p.turns});
    work.clear();
  });
  const std::uint64_t ran = contexts.run();
  producing.join();
  return {.operations = ran};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("producer", name, Net::version() + ", " + p.note(),
                        [&] { return run<Net>(p); });
}

}  // namespace producer
