// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <thread>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/blocking.hpp>

namespace weft_test {

/// Keeps all threads that may be blocked busy while it lives.
class all_threads_busy {
 public:
  explicit all_threads_busy(weft::io_context& context) {
    for (int i = 0; i != 512; ++i)
      weft::blocking(
          context,
          [this] {
            ++begun_;
            released_.wait(false);
          },
          weft::detached);
    while (begun_ != 512)
      std::this_thread::yield();
  }
  ~all_threads_busy() { release(); }
  void release() {
    released_ = true;
    released_.notify_all();
  }

 private:
  std::atomic<int> begun_{0};
  std::atomic<bool> released_{false};
};

}  // namespace weft_test
