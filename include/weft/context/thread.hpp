// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <thread>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Starts a thread and can wait for its end; destroyed before that, it lets the thread go on. For
/// programs written to Asio's class of this name; others use std::thread.
class thread {
 public:
  template <class Function>
  explicit thread(Function f) : thread_(std::move(f)) {}
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread() {
    if (thread_.joinable())
      thread_.detach();
  }

  /// Waits until the function has returned. Further calls return at once.
  void join() {
    if (thread_.joinable())
      thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace WEFT_NAMESPACE
