// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include <weft/execution/execution_context.hpp>
#include <weft/execution/properties.hpp>

/// Execution contexts and executors as a user writes them, from the documentation alone: nothing
/// of weft's `detail` is used here.
namespace third_party {

/// A context that runs what was submitted when it is told to, and counts outstanding work.
class manual_context : public weft::execution_context {
 public:
  class executor_type;
  class ts_executor;

  manual_context() = default;
  ~manual_context() {
    shutdown();
    queue_.clear();
    destroy();
  }

  executor_type get_executor() noexcept;

  /// Runs all that is queued, and what that queues; returns how many functions.
  int drain() {
    int n = 0;
    for (; !queue_.empty(); ++n) {
      auto f = std::move(queue_.front());
      queue_.pop_front();
      f->run();
    }
    return n;
  }

  int work = 0;
  int continuations = 0;

 private:
  struct function_base {
    virtual ~function_base() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct function final : function_base {
    explicit function(F g) : f(std::move(g)) {}
    void run() override { std::move(f)(); }
    F f;
  };

  template <class F>
  void push(F f) {
    queue_.push_back(std::make_unique<function<F>>(std::move(f)));
  }

  std::deque<std::unique_ptr<function_base>> queue_;
};

/// In the style of properties.
class manual_context::executor_type {
 public:
  explicit executor_type(manual_context& context, bool tracked = false,
                         bool continuation = false) noexcept
      : context_(&context), tracked_(tracked), continuation_(continuation) {
    context_->work += tracked_;
  }
  executor_type(const executor_type& other) noexcept
      : executor_type(*other.context_, other.tracked_, other.continuation_) {}
  executor_type& operator=(const executor_type& other) noexcept {
    other.context_->work += other.tracked_;
    context_->work -= tracked_;
    context_ = other.context_;
    tracked_ = other.tracked_;
    continuation_ = other.continuation_;
    return *this;
  }
  ~executor_type() { context_->work -= tracked_; }

  manual_context& query(weft::execution::context_t) const noexcept { return *context_; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  weft::execution::relationship_t query(weft::execution::relationship_t) const noexcept {
    if (continuation_)
      return weft::execution::relationship.continuation;
    return weft::execution::relationship.fork;
  }

  executor_type require(weft::execution::outstanding_work_t::tracked_t) const noexcept {
    return executor_type(*context_, true, continuation_);
  }
  executor_type require(weft::execution::outstanding_work_t::untracked_t) const noexcept {
    return executor_type(*context_, false, continuation_);
  }
  executor_type require(weft::execution::relationship_t::continuation_t) const noexcept {
    return executor_type(*context_, tracked_, true);
  }
  executor_type require(weft::execution::relationship_t::fork_t) const noexcept {
    return executor_type(*context_, tracked_, false);
  }

  template <class F>
  void execute(F f) const {
    context_->continuations += continuation_;
    context_->push(std::move(f));
  }

  friend bool operator==(const executor_type& a, const executor_type& b) noexcept {
    return a.context_ == b.context_ && a.continuation_ == b.continuation_;
  }

 private:
  manual_context* context_;
  bool tracked_;
  bool continuation_;
};

/// In the style of the Networking TS.
class manual_context::ts_executor {
 public:
  explicit ts_executor(manual_context& context) noexcept : context_(&context) {}

  manual_context& context() const noexcept { return *context_; }
  void on_work_started() const noexcept { ++context_->work; }
  void on_work_finished() const noexcept { --context_->work; }
  template <class F, class Allocator>
  void dispatch(F&& f, const Allocator&) const {
    std::decay_t<F>(std::forward<F>(f))();
  }
  template <class F, class Allocator>
  void post(F&& f, const Allocator&) const {
    context_->push(std::decay_t<F>(std::forward<F>(f)));
  }
  template <class F, class Allocator>
  void defer(F&& f, const Allocator&) const {
    ++context_->continuations;
    context_->push(std::decay_t<F>(std::forward<F>(f)));
  }
  friend bool operator==(const ts_executor& a, const ts_executor& b) noexcept {
    return a.context_ == b.context_;
  }

 private:
  manual_context* context_;
};

inline manual_context::executor_type manual_context::get_executor() noexcept {
  return executor_type(*this);
}

/// The smallest executor for I/O: too large to be stored in place.
struct large_executor {
  manual_context* context;
  void* padding[4] = {};

  manual_context& query(weft::execution::context_t) const noexcept { return *context; }
  static constexpr weft::execution::blocking_t::never_t query(
      weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class F>
  void execute(F f) const {
    context->get_executor().execute(std::move(f));
  }
  bool operator==(const large_executor&) const noexcept = default;
};

/// A property of a user's own.
struct priority {
  template <class T>
  static constexpr bool is_applicable_property_v = weft::execution::is_executor<T>::value;
  static constexpr bool is_requirable = true;
  static constexpr bool is_preferable = true;
  using polymorphic_query_result_type = int;
  int value = 1;
};

/// An executor with that property.
struct priority_executor {
  manual_context* context;
  int level = 1;

  manual_context& query(weft::execution::context_t) const noexcept { return *context; }
  int query(priority) const noexcept { return level; }
  priority_executor require(priority p) const noexcept { return {context, p.value}; }
  template <class F>
  void execute(F f) const {
    context->get_executor().execute(std::move(f));
  }
  bool operator==(const priority_executor&) const noexcept = default;
};

}  // namespace third_party
