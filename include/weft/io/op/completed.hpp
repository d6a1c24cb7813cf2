// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// An operation that has nothing to do, or failed before it began: only its result is delivered.
template <class... Results>
class completed_operation : public operation {
 public:
  completed_operation(operation::function f, scheduler& owner, Results... results)
      : operation(f), owner_(&owner), results_{std::move(results)...} {}

  scheduler& owner() const noexcept { return *owner_; }
  operation_results<Results...> take_results() { return std::move(results_); }

 protected:
  ~completed_operation() = default;

 private:
  scheduler* owner_;
  operation_results<Results...> results_;
};

/// Calls `handler(results...)` later, as for an operation that finished at once.
template <class Handler, class IoExecutor, class... Results>
void complete_now(scheduler& owner, Handler& handler, const IoExecutor& executor,
                  Results... results) {
  using op_type = handler_operation<completed_operation<Results...>, Handler, IoExecutor>;
  auto op = op_type::create(handler, executor, owner, std::move(results)...);
  if constexpr (has_immediate_executor<Handler, IoExecutor>)
    op_type::complete_immediately(op.release(), executor);
  else
    scheduler_post(owner, op.release());
}

}  // namespace WEFT_NAMESPACE::detail
