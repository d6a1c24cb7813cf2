// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/base/function_operation.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/properties.hpp>

namespace weft_test {

/// An execution context whose functions run when the test says so. Its queue may be used from any
/// thread. It counts the work that its executors keep outstanding.
class manual_context : public weft::execution_context {
 public:
  template <bool Never, bool Tracked, class Allocator>
  class basic_executor;
  using executor_type = basic_executor<false, false, std::allocator<void>>;

  manual_context() = default;
  ~manual_context() {
    shutdown();
    discard();
  }

  executor_type get_executor() noexcept;

  /// Runs one function; returns whether there was one.
  bool run_one() {
    weft::detail::operation* op = pop();
    if (!op)
      return false;
    struct restore {
      explicit restore(manual_context* c) : previous(std::exchange(current_, c)) {}
      ~restore() { current_ = previous; }
      manual_context* previous;
    } inside(this);
    op->invoke();
    return true;
  }

  /// Runs until nothing is queued; returns how many functions ran.
  std::size_t run() {
    std::size_t n = 0;
    while (run_one())
      ++n;
    return n;
  }

  void discard() {
    while (weft::detail::operation* op = pop())
      op->destroy();
  }

  std::size_t queued() const {
    std::lock_guard lock(mutex_);
    return queue_.size();
  }
  int work() const {
    std::lock_guard lock(mutex_);
    return work_;
  }
  bool running_in_this_thread() const noexcept { return current_ == this; }

  /// The next `n` submissions throw std::bad_alloc.
  void fail_submissions(int n) { failures_ = n; }
  int submissions() const { return submissions_; }

 private:
  friend class ts_executor;

  template <class Function, class Allocator>
  void push(Function&& f, const Allocator& a) {
    {
      std::lock_guard lock(mutex_);
      if (failures_ > 0) {
        --failures_;
        throw std::bad_alloc();
      }
    }
    weft::detail::operation* op =
        weft::detail::make_function_operation(std::forward<Function>(f), a);
    std::lock_guard lock(mutex_);
    ++submissions_;
    queue_.push_back(op);
  }

  weft::detail::operation* pop() {
    std::lock_guard lock(mutex_);
    if (queue_.empty())
      return nullptr;
    weft::detail::operation* op = queue_.front();
    queue_.pop_front();
    return op;
  }

  mutable std::mutex mutex_;
  std::deque<weft::detail::operation*> queue_;
  int work_ = 0;
  int failures_ = 0;
  int submissions_ = 0;
  static inline thread_local manual_context* current_ = nullptr;
};

template <bool Never, bool Tracked, class Allocator>
class manual_context::basic_executor {
  template <bool N, bool T, class A = Allocator>
  using with = basic_executor<N, T, A>;

 public:
  explicit basic_executor(manual_context& c, const Allocator& a = Allocator()) noexcept
      : context_(&c), allocator_(a) {
    count(1);
  }
  basic_executor(const basic_executor& other) noexcept
      : context_(other.context_), allocator_(other.allocator_) {
    count(1);
  }
  basic_executor& operator=(const basic_executor& other) noexcept {
    count(-1);
    context_ = other.context_;
    count(1);
    return *this;
  }
  ~basic_executor() { count(-1); }

  with<true, Tracked> require(weft::execution::blocking_t::never_t) const {
    return with<true, Tracked>(*context_, allocator_);
  }
  with<false, Tracked> require(weft::execution::blocking_t::possibly_t) const {
    return with<false, Tracked>(*context_, allocator_);
  }
  with<Never, true> require(weft::execution::outstanding_work_t::tracked_t) const {
    return with<Never, true>(*context_, allocator_);
  }
  with<Never, false> require(weft::execution::outstanding_work_t::untracked_t) const {
    return with<Never, false>(*context_, allocator_);
  }
  template <class A>
  with<Never, Tracked, A> require(weft::execution::allocator_t<A> a) const {
    return with<Never, Tracked, A>(*context_, a.value());
  }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return Never ? weft::execution::blocking_t(weft::execution::blocking.never)
                 : weft::execution::blocking_t(weft::execution::blocking.possibly);
  }
  static constexpr weft::execution::outstanding_work_t query(
      weft::execution::outstanding_work_t) noexcept {
    return Tracked
               ? weft::execution::outstanding_work_t(weft::execution::outstanding_work.tracked)
               : weft::execution::outstanding_work_t(weft::execution::outstanding_work.untracked);
  }
  manual_context& query(weft::execution::context_t) const noexcept { return *context_; }

  template <class Function>
  void execute(Function&& f) const {
    if constexpr (!Never) {
      if (context_->running_in_this_thread()) {
        std::decay_t<Function> function(std::forward<Function>(f));
        std::move(function)();
        return;
      }
    }
    context_->push(std::forward<Function>(f), allocator_);
  }

  friend bool operator==(const basic_executor& a, const basic_executor& b) noexcept {
    return a.context_ == b.context_;
  }

 private:
  void count(int n) noexcept {
    if constexpr (Tracked) {
      std::lock_guard lock(context_->mutex_);
      context_->work_ += n;
    }
  }

  manual_context* context_;
  [[no_unique_address]] Allocator allocator_;
};

inline manual_context::executor_type manual_context::get_executor() noexcept {
  return executor_type(*this);
}

/// An executor in the style of the Networking TS, over a manual_context.
class ts_executor {
 public:
  explicit ts_executor(manual_context& c) noexcept : context_(&c) {}

  manual_context& context() const noexcept { return *context_; }
  void on_work_started() const noexcept {}
  void on_work_finished() const noexcept {}
  template <class Function, class Allocator>
  void dispatch(Function&& f, const Allocator& a) const {
    context_->get_executor()
        .require(weft::execution::allocator(a))
        .execute(std::forward<Function>(f));
  }
  template <class Function, class Allocator>
  void post(Function&& f, const Allocator& a) const {
    context_->push(std::forward<Function>(f), a);
  }
  template <class Function, class Allocator>
  void defer(Function&& f, const Allocator& a) const {
    post(std::forward<Function>(f), a);
  }
  friend bool operator==(const ts_executor&, const ts_executor&) noexcept = default;

 private:
  manual_context* context_;
};

}  // namespace weft_test
