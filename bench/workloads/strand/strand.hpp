// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "harness/models.hpp"
#include "harness/phases.hpp"

// Handlers that are all queued to one strand before the first is run; one context, any number of
// threads. Each counts without an atomic, which only a strand permits.
namespace strand {

template <class Net>
bench::result run(const bench::model& m, std::uint64_t handlers) {
  bench::contexts<Net> contexts(m);
  const typename Net::strand on(contexts[0]);
  std::uint64_t ran = 0;
  bench::phases phases;
  for (std::uint64_t i = 0; i != handlers; ++i)
    post(on, [&ran] { ++ran; });
  phases.end("queue_ns", handlers);
  contexts.run();
  phases.end("run_ns", handlers);
  return {.operations = ran, .figures = phases.figures("sum_ns")};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const bench::model m(argc, argv);
  const std::uint64_t handlers = bench::option(argc, argv, "--handlers", 1'000'000);
  return bench::measure("strand", name, Net::version() + ", " + m.note(),
                        [&] { return run<Net>(m, handlers); });
}

}  // namespace strand
