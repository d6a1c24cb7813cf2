// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <typeinfo>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/base/function_operation.hpp>
#include <weft/base/strong_ptr.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>

namespace WEFT_NAMESPACE {

/// Thrown when an empty weft::executor is used.
class WEFT_API bad_executor : public std::exception {
 public:
  const char* what() const noexcept override;
};

namespace detail {
[[noreturn]] WEFT_API void throw_bad_ts_executor();
}

/// The polymorphic wrapper of executors in the style of the Networking TS, and one itself. For
/// programs that already use it; any_io_executor is the wrapper that understands properties.
///
/// The target is in one block, shared by the copies. `dispatch`, `post` and `defer` allocate once,
/// from the allocator they are given, and throw bad_executor on an empty wrapper; `context` and
/// the work members need a target. `const` members may be called from any threads at once.
class executor {
  /// A target behind its functions.
  struct implementation {
    virtual ~implementation() = default;
    virtual execution_context& context() const noexcept = 0;
    virtual void on_work_started() const noexcept = 0;
    virtual void on_work_finished() const noexcept = 0;
    virtual void dispatch(detail::operation_function f) const = 0;
    virtual void post(detail::operation_function f) const = 0;
    virtual void defer(detail::operation_function f) const = 0;
    virtual bool equals(const implementation& other) const noexcept = 0;
    virtual const std::type_info& type() const noexcept = 0;
    virtual void* target() noexcept = 0;
  };
  template <class Executor>
  struct holder;

 public:
  executor() noexcept = default;
  executor(std::nullptr_t) noexcept {}
  executor(const executor&) noexcept = default;
  executor(executor&&) noexcept = default;
  executor(std::nothrow_t, const executor& other) noexcept : executor(other) {}
  executor(std::nothrow_t, executor&& other) noexcept : executor(std::move(other)) {}

  /// Wraps `ex`, in memory of the allocator if one is given. Throws what allocating throws.
  template <class Executor>
    requires(!std::is_same_v<Executor, executor> && detail::ts_executor<Executor>)
  executor(Executor ex) : executor(std::allocator_arg, std::allocator<void>(), std::move(ex)) {}
  template <class Executor, class Allocator>
  executor(std::allocator_arg_t, const Allocator& a, Executor ex)
      : target_(allocate_strong<holder<Executor>>(a, std::move(ex))) {}
  /// Empty if there is no memory.
  template <class Executor>
    requires(!std::is_same_v<Executor, executor> && detail::ts_executor<Executor>)
  executor(std::nothrow_t, Executor ex) noexcept {
    try {
      *this = executor(std::move(ex));
    } catch (const std::bad_alloc&) {}
  }

  executor& operator=(const executor&) noexcept = default;
  executor& operator=(executor&&) noexcept = default;
  executor& operator=(std::nullptr_t) noexcept {
    target_.reset();
    return *this;
  }

  execution_context& context() const noexcept { return target_->context(); }
  void on_work_started() const noexcept { target_->on_work_started(); }
  void on_work_finished() const noexcept { target_->on_work_finished(); }

  template <class Function, class Allocator>
  void dispatch(Function&& f, const Allocator& a) const {
    check();
    target_->dispatch(erase(std::forward<Function>(f), a));
  }
  template <class Function, class Allocator>
  void post(Function&& f, const Allocator& a) const {
    check();
    target_->post(erase(std::forward<Function>(f), a));
  }
  template <class Function, class Allocator>
  void defer(Function&& f, const Allocator& a) const {
    check();
    target_->defer(erase(std::forward<Function>(f), a));
  }

  explicit operator bool() const noexcept { return target_ != nullptr; }
  /// The target's type, or typeid(void).
  const std::type_info& target_type() const noexcept {
    return target_ ? target_->type() : typeid(void);
  }
  /// The target, if its type is `Executor`; else null.
  template <class Executor>
  Executor* target() noexcept {
    return target_type() == typeid(Executor) ? static_cast<Executor*>(target_->target()) : nullptr;
  }
  template <class Executor>
  const Executor* target() const noexcept {
    return target_type() == typeid(Executor) ? static_cast<const Executor*>(target_->target())
                                             : nullptr;
  }

  /// Whether both have targets that are equal, or neither has one.
  template <class E>
    requires std::is_base_of_v<executor, E>
  friend bool operator==(const E& a, const E& b) noexcept {
    return equal(a, b);
  }
  /// Whether the target is of that type and equal to `b`.
  template <class E, class Executor>
    requires(std::is_base_of_v<executor, E> && !std::is_base_of_v<executor, Executor> &&
             detail::ts_executor<Executor>)
  friend bool operator==(const E& a, const Executor& b) noexcept {
    const executor& wrapper = a;
    const Executor* const target = wrapper.template target<Executor>();
    return target && static_cast<bool>(*target == b);
  }

 private:
  static bool equal(const executor& a, const executor& b) noexcept {
    if (a.target_ == b.target_)
      return true;
    return a.target_ && b.target_ && a.target_->type() == b.target_->type() &&
           a.target_->equals(*b.target_);
  }

  template <class Function, class Allocator>
  static detail::operation_function erase(Function&& f, const Allocator& a) {
    return detail::operation_function(
        detail::make_function_operation(std::forward<Function>(f), a));
  }

  void check() const {
    if (!target_)
      detail::throw_bad_ts_executor();
  }

  strong_ptr<implementation> target_;
};

template <class Executor>
struct executor::holder final : implementation {
  explicit holder(Executor&& ex) noexcept : ex_(std::move(ex)) {}

  execution_context& context() const noexcept override { return ex_.context(); }
  void on_work_started() const noexcept override { ex_.on_work_started(); }
  void on_work_finished() const noexcept override { ex_.on_work_finished(); }
  void dispatch(detail::operation_function f) const override {
    ex_.dispatch(std::move(f), std::allocator<void>());
  }
  void post(detail::operation_function f) const override {
    ex_.post(std::move(f), std::allocator<void>());
  }
  void defer(detail::operation_function f) const override {
    ex_.defer(std::move(f), std::allocator<void>());
  }
  bool equals(const implementation& other) const noexcept override {
    return ex_ == static_cast<const holder&>(other).ex_;
  }
  const std::type_info& type() const noexcept override { return typeid(Executor); }
  void* target() noexcept override { return &ex_; }

  Executor ex_;
};

}  // namespace WEFT_NAMESPACE
