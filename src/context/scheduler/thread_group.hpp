// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/home_process.hpp"

namespace WEFT_NAMESPACE::detail {

/// Threads that run one scheduler. Not thread-safe.
class thread_group {
 public:
  static std::size_t default_size() noexcept {
    return std::max<std::size_t>(2, 2 * std::size_t(std::thread::hardware_concurrency()));
  }

  std::size_t size() const noexcept { return threads_.size(); }

  /// Whether this process is the one that has them, and not a child of it.
  bool is_here() const noexcept { return home_.is_here(); }

  /// An exception that leaves an operation on one of the threads ends the program. Throws
  /// system_error; those started until then run.
  template <class Scheduler>
  void start(std::size_t count, Scheduler& owner) {
    home_.move_here();
    threads_.reserve(count);
    while (threads_.size() != count)
      threads_.emplace_back([&owner]() noexcept { owner.run(); });
  }

  void join() noexcept {
    for (std::thread& t : threads_)
      t.join();
    threads_.clear();
  }

  /// Leaves the calling thread out, if it is one of them.
  void let_go_of_this_thread() noexcept {
    const auto self = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& t) {
      return t.get_id() == std::this_thread::get_id();
    });
    if (self == threads_.end())
      return;
    self->detach();
    threads_.erase(self);
  }

  /// In the child of a fork: what is known of them is left alone, for others may have their names.
  void abandon() noexcept {
    std::construct_at(&threads_);
    home_.move_here();
  }

 private:
  home_process home_;
  std::vector<std::thread> threads_;
};

}  // namespace WEFT_NAMESPACE::detail
