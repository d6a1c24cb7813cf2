// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "harness/models.hpp"

// Handlers that post handlers: a number of chains, in each of which a handler posts the next, and
// works for `turns` turns. Separate contexts share the chains out. With half-sync/half-async the
// I/O thread hands each to the pool, where it posts the next to the I/O thread.
namespace chain {

struct parameters : bench::model {
  std::uint64_t chains;
  std::uint64_t length;
  std::uint64_t turns;

  parameters(int argc, char** argv)
      : model(argc, argv),
        chains(bench::option(argc, argv, "--chains", 64)),
        length(bench::option(argc, argv, "--handlers", 10'000'000) / chains),
        turns(bench::option(argc, argv, "--turns", 0)) {}
};

template <class Executor>
struct link {
  Executor executor;
  std::uint64_t left;
  std::uint64_t turns;

  void operator()() const {
    if (left != 1)
      post(executor, link{executor, left - 1, turns});
    bench::turn(turns);
  }
};

/// The work of a link in the pool. A guard, passed on along the chain, keeps the I/O context
/// running.
template <class Guard, class Executor>
struct job {
  Guard io;
  Executor pool;
  std::uint64_t left;
  std::uint64_t turns;

  void operator()() {
    if (left != 1) {
      const Executor on = io.get_executor();
      post(on, bench::hand_over{pool, job{std::move(io), pool, left - 1, turns}});
    }
    bench::turn(turns);
  }
};

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("chain", name, Net::version() + ", " + p.note(), [&] {
    bench::contexts<Net> contexts(p);
    using executor = typename bench::contexts<Net>::executor;
    for (std::uint64_t i = 0; i != p.chains; ++i) {
      const executor on = contexts[i % contexts.size()];
      if (p.half_sync)
        post(contexts.io(), bench::hand_over{on, job{typename Net::work_guard(contexts.io()), on,
                                                     p.length, p.turns}});
      else
        post(on, link<executor>{on, p.length, p.turns});
    }
    return bench::result{.operations = contexts.run()};
  });
}

}  // namespace chain
