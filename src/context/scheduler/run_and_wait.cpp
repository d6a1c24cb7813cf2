// SPDX-License-Identifier: BSL-1.0
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/base/function_operation.hpp>
#include <weft/context/scheduler.hpp>

namespace WEFT_NAMESPACE::detail {

namespace {

class gate {
 public:
  /// Notifies under the lock, so that the gate is not gone before that is done.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

/// Opens the gate when the operation that holds it has run, or is destroyed un-called.
class opener {
 public:
  explicit opener(gate& g) noexcept : gate_(&g) {}
  opener(opener&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
  opener& operator=(opener&&) = delete;
  ~opener() {
    if (gate_)
      gate_->open();
  }

 private:
  gate* gate_;
};

}  // namespace

void scheduler_run_and_wait(scheduler& s, function_view f) {
  gate done;
  scheduler_post(
      s, make_function_operation([f, guard = opener(done)] { f(); }, std::allocator<void>()));
  done.wait();
}

}  // namespace WEFT_NAMESPACE::detail
