// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "wakeup.hpp"

namespace wakeup {

/// A context of a library with Asio's vocabulary, with one thread in run().
template <class Net>
class context_loop {
  using context = typename Net::io_context;

 public:
  context_loop(context& c, stopwatch& watch)
      : context_(c), watch_(watch), work_(c.get_executor()) {}

  void run() { context_.run(); }
  void stop() { work_.reset(); }
  void wake() {
    post(context_, [this] { watch_.arrived(); });
  }

 private:
  context& context_;
  stopwatch& watch_;
  typename Net::work_guard work_;
};

template <class Net>
bench::result run_on(typename Net::io_context& context, const parameters& p) {
  stopwatch watch(p.posts);
  context_loop<Net> loop(context, watch);
  return run(loop, watch, p);
}

}  // namespace wakeup
