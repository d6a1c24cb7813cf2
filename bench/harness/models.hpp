// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/run.hpp"

// The models of threads and contexts, over a library with Asio's vocabulary: `Net` is weft_net or
// asio_net.
namespace bench {

/// The numbers of the command line: how many threads run handlers, and whether they do so on one
/// context (a pool) or on a context each. Half-synchronous, half-asynchronous is a pool whose work
/// is handed to it by one thread more, which runs an I/O context.
struct model {
  std::uint64_t threads;
  bool separate;
  bool half_sync;

  model(int argc, char** argv)
      : threads(option(argc, argv, "--threads", 1)),
        separate(option(argc, argv, "--separate", 0) != 0),
        half_sync(option(argc, argv, "--half-sync", 0) != 0) {
    if (separate && half_sync) {
      std::fputs("--separate or --half-sync, not both\n", stderr);
      std::exit(2);
    }
  }

  std::string note() const {
    return std::to_string(threads) + " thread" + (threads == 1 ? "" : "s") +
           (half_sync      ? " behind an I/O thread"
            : threads == 1 ? ""
            : separate     ? ", a context each"
                           : ", one context");
  }
};

/// A handler for the I/O thread, which hands `work` to the pool.
template <class Executor, class Work>
struct hand_over {
  Executor pool;
  Work work;
  void operator()() { post(pool, std::move(work)); }
};

/// The contexts of a model. A context for one thread is told so.
template <class Net>
class contexts {
 public:
  using context = typename Net::io_context;
  using executor = typename context::executor_type;

  explicit contexts(const model& m) : threads_(m.threads) {
    const std::uint64_t count = m.separate ? m.threads : 1;
    for (std::uint64_t i = 0; i != count; ++i)
      all_.push_back(Net::make_context(m.separate ? 1 : static_cast<int>(m.threads)));
    if (m.half_sync)
      io_ = Net::make_context(1);
  }

  std::size_t size() const { return all_.size(); }
  executor operator[](std::size_t i) { return all_[i]->get_executor(); }
  /// That of half-sync/half-async, whose pool is the only context beside it.
  executor io() { return io_->get_executor(); }

  /// While these exist, the contexts do not run out of work.
  std::vector<typename Net::work_guard> keep_running() {
    std::vector<typename Net::work_guard> guards;
    for (auto& one : all_)
      guards.emplace_back(one->get_executor());
    return guards;
  }

  /// Runs them until they are out of work, this thread being one of the model's. The pool keeps
  /// running while the I/O context has work. Returns how many handlers ran, but for the I/O
  /// thread's.
  std::uint64_t run() {
    std::vector<std::uint64_t> ran(threads_);
    std::vector<std::thread> others;
    if (io_)
      others.emplace_back([this, guards = keep_running()]() mutable {
        io_->run();
        guards.clear();
      });
    for (std::size_t i = 1; i < threads_; ++i)
      others.emplace_back([&, i] { ran[i] = all_[i % size()]->run(); });
    ran[0] = all_[0]->run();
    for (std::thread& t : others)
      t.join();
    return std::accumulate(ran.begin(), ran.end(), std::uint64_t{0});
  }

 private:
  std::size_t threads_;
  std::vector<std::unique_ptr<context>> all_;
  std::unique_ptr<context> io_;
};

/// A handler's work: a loop of so many turns, which the compiler leaves in place. A function of its
/// own, so that it lies, and runs, the same in every program.
[[gnu::noinline, gnu::aligned(64)]] inline void turn(std::uint64_t turns) {
  for (std::uint64_t i = 0; i != turns; ++i)
    asm volatile("" : "+r"(i));
}

}  // namespace bench
