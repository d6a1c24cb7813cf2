// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/properties.hpp>

namespace WEFT_NAMESPACE::detail {

/// The base of all any_executor.
struct any_executor_tag {};

/// Keeps work outstanding on an executor until it is reset, moved from or destroyed: by a copy of
/// the executor with outstanding_work.tracked where it has properties, by on_work_started and
/// on_work_finished where it is in the style of the Networking TS.
template <class Executor>
class work_tracker {
 public:
  /// What get_executor gives: the executor, with its work tracked if it can do that.
  using executor_type =
      std::decay_t<prefer_result_t<const Executor&, execution::outstanding_work_t::tracked_t>>;

  explicit work_tracker(const Executor& ex)
      : executor_(prefer(ex, execution::outstanding_work.tracked)), owns_(true) {}
  work_tracker(const work_tracker& other) noexcept : owns_(other.owns_) {
    if (owns_)
      std::construct_at(&executor_, other.executor_);
  }
  work_tracker(work_tracker&& other) noexcept : owns_(other.owns_) {
    if (owns_) {
      std::construct_at(&executor_, std::move(other.executor_));
      other.reset();
    }
  }
  work_tracker& operator=(const work_tracker&) = delete;
  ~work_tracker() { reset(); }

  /// Precondition: owns_work().
  const executor_type& get_executor() const noexcept { return executor_; }
  bool owns_work() const noexcept { return owns_; }
  void reset() noexcept {
    if (std::exchange(owns_, false))
      std::destroy_at(&executor_);
  }

 private:
  union {
    executor_type executor_;
  };
  bool owns_;
};

/// A polymorphic wrapper has an empty state, so it needs no mark beside it.
template <class Executor>
  requires std::is_base_of_v<any_executor_tag, Executor>
class work_tracker<Executor> {
 public:
  using executor_type =
      std::decay_t<prefer_result_t<const Executor&, execution::outstanding_work_t::tracked_t>>;

  explicit work_tracker(const Executor& ex)
      : executor_(prefer(ex, execution::outstanding_work.tracked)) {}
  work_tracker(const work_tracker&) noexcept = default;
  work_tracker(work_tracker&&) noexcept = default;
  work_tracker& operator=(const work_tracker&) = delete;

  const executor_type& get_executor() const noexcept { return executor_; }
  bool owns_work() const noexcept { return static_cast<bool>(executor_); }
  void reset() noexcept { executor_ = nullptr; }

 private:
  executor_type executor_;
};

template <class Executor>
  requires(!execution::executor<Executor>)
class work_tracker<Executor> {
 public:
  using executor_type = Executor;

  explicit work_tracker(const Executor& ex) noexcept : executor_(ex), owns_(true) {
    executor_.on_work_started();
  }
  work_tracker(const work_tracker& other) noexcept
      : executor_(other.executor_), owns_(other.owns_) {
    if (owns_)
      executor_.on_work_started();
  }
  work_tracker(work_tracker&& other) noexcept
      : executor_(other.executor_), owns_(std::exchange(other.owns_, false)) {}
  work_tracker& operator=(const work_tracker&) = delete;
  ~work_tracker() { reset(); }

  const executor_type& get_executor() const noexcept { return executor_; }
  bool owns_work() const noexcept { return owns_; }
  void reset() noexcept {
    if (std::exchange(owns_, false))
      executor_.on_work_finished();
  }

 private:
  Executor executor_;
  bool owns_;
};

}  // namespace WEFT_NAMESPACE::detail
