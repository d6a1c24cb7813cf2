// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <thread>

#include "harness/models.hpp"

// One thread, outside of the model's, queues handlers while they are run. Separate contexts get
// them in turn. With half-sync/half-async it is the I/O thread that queues them, one by one in
// handlers of its own.
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

/// Hands a handler to the pool, and posts itself again.
template <class Executor>
struct source {
  Executor io;
  Executor pool;
  std::uint64_t left;
  std::uint64_t turns;

  void operator()() const {
    post(pool, handler{turns});
    if (left != 1)
      post(io, source{io, pool, left - 1, turns});
  }
};

template <class Net>
bench::result run(const parameters& p) {
  bench::contexts<Net> contexts(p);
  if (p.half_sync) {
    post(contexts.io(), source{contexts.io(), contexts[0], p.handlers, p.turns});
    return {.operations = contexts.run()};
  }
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
