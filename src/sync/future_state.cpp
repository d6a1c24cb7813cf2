// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/future_state.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <weft/base/error.hpp>
#include <weft/execution/system_executor.hpp>
#include <weft/sync/future_wait.hpp>

#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

/// The waiter of a shared future: tells any number of others, first come, first told. A waiter is
/// told by whoever has taken it off the list, under the mutex.
class future_crowd final : public future_waiter {
 public:
  using arrival = future_state_base::arrival;

  future_crowd() noexcept : future_waiter(&tell) {}

  arrival attach(future_waiter& waiter) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_ready_)
      return arrival::is_ready;
    waiter.next_ = first_;
    if (first_)
      first_->link_ = &waiter.next_;
    waiter.link_ = &first_;
    first_ = &waiter;
    return arrival::waits;
  }

  bool detach(future_waiter& waiter) noexcept {
    const std::lock_guard lock(mutex_);
    if (!waiter.link_)
      return false;
    *waiter.link_ = waiter.next_;
    if (waiter.next_)
      waiter.next_->link_ = waiter.link_;
    waiter.link_ = nullptr;
    return true;
  }

  static void tell(future_waiter* base) noexcept {
    auto* const self = static_cast<future_crowd*>(base);
    future_waiter* waiter = nullptr;
    {
      const std::lock_guard lock(self->mutex_);
      self->is_ready_ = true;
      for (future_waiter* w = std::exchange(self->first_, nullptr); w;) {
        w->link_ = nullptr;
        future_waiter* const earlier = std::exchange(w->next_, waiter);
        waiter = std::exchange(w, earlier);
      }
    }
    while (waiter)
      std::exchange(waiter, waiter->next_)->ready();
  }

  /// Returns when `tell` is past the last use of this.
  void await_told() noexcept {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex_);
      if (is_ready_)
        return;
    }
  }

 private:
  std::mutex mutex_;  // whoever has it may end this as soon as another has let go of it
  future_waiter* first_ = nullptr;
  bool is_ready_ = false;
};

namespace {

/// A thread waits for a result of which `loop` is the producer, or nobody knows who. Throws
/// would_deadlock if it may not.
class permitted_wait {
 public:
  explicit permitted_wait(scheduler* loop) : last_(loop ? nullptr : worker::innermost()) {
    bool may_wait = !loop || !scheduler_running_in_this_thread(*loop);
    for (const worker* w = last_; w && may_wait; w = w->outer())
      if (is_first(*w) && !w->owner().try_block()) {
        may_wait = false;
        unblock(w);
      }
    if (!may_wait)
      throw_error(error::would_deadlock, "future");
  }
  permitted_wait(const permitted_wait&) = delete;
  permitted_wait& operator=(const permitted_wait&) = delete;
  ~permitted_wait() {
    if (!is_over_)
      unblock(nullptr);
  }

  /// What it waits for has come: for others it blocks its loops no longer, though it may take a
  /// while to awake. They live, for the thread is in their run().
  void end() noexcept {
    unblock(nullptr);
    is_over_ = true;
  }

 private:
  /// Of those that this thread has of one scheduler.
  bool is_first(const worker& w) const noexcept {
    const worker* first = last_;
    while (&first->owner() != &w.owner())
      first = first->outer();
    return first == &w;
  }
  void unblock(const worker* end) noexcept {
    for (const worker* w = last_; w != end; w = w->outer())
      if (is_first(*w))
        w->owner().unblock();
  }

  const worker* const last_;
  bool is_over_ = false;
};

/// A thread that waits for a future.
class blocked_thread final : public future_waiter {
 public:
  explicit blocked_thread(permitted_wait& permitted) noexcept
      : future_waiter(&tell), permitted_(permitted) {}

  void wait() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return is_told_; });
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return told_.wait_until(lock, deadline, [this] { return is_told_; });
  }

 private:
  static void tell(future_waiter* base) noexcept {
    auto* const self = static_cast<blocked_thread*>(base);
    const std::lock_guard lock(self->mutex_);  // it may be gone once it can be had again
    self->permitted_.end();
    self->is_told_ = true;
    self->told_.notify_one();
  }

  permitted_wait& permitted_;
  std::mutex mutex_;
  std::condition_variable told_;
  bool is_told_ = false;
};

}  // namespace

void throw_future_error(std::future_errc e) {
  throw std::future_error(e);
}
std::exception_ptr make_future_error(std::future_errc e) noexcept {
  return std::make_exception_ptr(std::future_error(e));
}
std::exception_ptr make_aborted() noexcept {
  return exception_of(error::operation_aborted);
}

scheduler* find_scheduler(execution_context& context) {
  return has_service<scheduler>(context) ? &use_service<scheduler>(context) : nullptr;
}

void future_state_base::gather() {
  if (crowd_)
    return;
  auto crowd = std::make_unique<future_crowd>();
  switch (slot_.attach(*crowd)) {
    case arrival::waits: break;
    case arrival::is_ready: future_crowd::tell(crowd.get()); break;
    case arrival::is_taken: throw_future_error(std::future_errc::future_already_retrieved);
  }
  crowd_ = crowd.release();
}

/// A crowd is the only waiter that may be left.
void future_state_base::abandon() noexcept {
  if (crowd_) {
    if (!slot_.detach(*crowd_))
      return destroy();
    delete std::exchange(crowd_, nullptr);
  }
  if (!slot_.abandon())
    destroy();
}

auto future_state_base::attach_to_crowd(future_waiter& waiter) noexcept -> arrival {
  return crowd_->attach(waiter);
}
bool future_state_base::detach_from_crowd(future_waiter& waiter) noexcept {
  return crowd_->detach(waiter);
}
/// The result is there before the crowd is told, and whoever sees it may end the future meanwhile.
void future_state_base::end_crowd() noexcept {
  crowd_->await_told();
  delete crowd_;
}

bool future_state_base::wait_until(std::chrono::steady_clock::time_point deadline) const {
  using clock = std::chrono::steady_clock;
  if (is_ready())
    return true;
  const bool has_deadline = deadline != clock::time_point::max();
  if (has_deadline && deadline <= clock::now())
    return false;
  permitted_wait permitted(producer_.loop);
  auto* const self = const_cast<future_state_base*>(this);
  blocked_thread waiter(permitted);
  switch (self->attach(waiter)) {
    case arrival::is_ready: return true;
    case arrival::is_taken: throw_future_error(std::future_errc::future_already_retrieved);
    case arrival::waits: break;
  }
  if (has_deadline && !waiter.wait_until(deadline) && self->detach(waiter))
    return false;
  waiter.wait();
  return true;
}

}  // namespace WEFT_NAMESPACE::detail
