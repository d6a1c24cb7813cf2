// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

/// Threads that run one scheduler. Not thread-safe.
class thread_group {
 public:
  static std::size_t default_size() noexcept {
    return std::max<std::size_t>(2, 2 * std::size_t(std::thread::hardware_concurrency()));
  }

  /// An exception that leaves an operation on one of the threads ends the program.
  void start(std::size_t count, scheduler& owner) {
    threads_.reserve(count);
    while (threads_.size() != count)
      threads_.emplace_back([&owner]() noexcept { owner.run(); });
  }

  void join() noexcept {
    for (std::thread& t : threads_)
      t.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace WEFT_NAMESPACE::detail
