// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/operation_function.hpp>
#include <weft/base/operation_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// A nullary function as an operation: what executors make of `execute(f)`, `post(f, a)` and
/// `defer(f, a)`. `Function` need only be move-constructible.
template <class Function, class Allocator>
class function_operation final : public operation {
  using owner = operation_owner<function_operation, Allocator>;

 public:
  template <class F>
  function_operation(F&& f, const Allocator& allocator)
      : operation(&complete), allocator_(allocator), function_(std::forward<F>(f)) {}

  /// Allocates an operation; the caller queues it. Throws what the allocator throws or what
  /// moving the function throws; nothing is lost then but the function.
  template <class F>
  static operation* create(F&& f, const Allocator& allocator) {
    return owner(std::in_place, allocator, std::forward<F>(f), allocator).release();
  }

 private:
  static void complete(operation* base, action what) {
    if (what != action::invoke) [[unlikely]]
      return dismiss(base, what);
    auto* self = static_cast<function_operation*>(base);
    const Allocator allocator(self->allocator_);
    owner op(self, allocator);
    Function function(std::move(self->function_));
    op.reset();
    std::move(function)();
  }

  static void dismiss(operation* base, action what) noexcept {
    if (what == action::describe)
      return describe<Function>(base);
    auto* self = static_cast<function_operation*>(base);
    const Allocator allocator(self->allocator_);
    dismiss_operation(owner(self, allocator), self->function_);
  }

  [[no_unique_address]] Allocator allocator_;
  Function function_;
};

/// `f` as an operation for a queue; an operation_function is unwrapped, unless a copy of it has
/// been called already.
template <class Function, class Allocator>
operation* make_function_operation(Function&& f, const Allocator& allocator) {
  if constexpr (std::is_same_v<Function, operation_function>)
    if (operation* op = f.release())
      return op;
  return function_operation<std::decay_t<Function>, Allocator>::create(std::forward<Function>(f),
                                                                       allocator);
}

}  // namespace WEFT_NAMESPACE::detail
