// SPDX-License-Identifier: BSL-1.0
#include <weft/context/operation_offer.hpp>

namespace WEFT_NAMESPACE::detail {

template <>
void completion_work<any_io_executor>::keep(const any_io_executor& executor) {
  elsewhere_ = prefer(executor, execution::outstanding_work.tracked);
}

void rethrow(std::exception_ptr refusal) {
  if (refusal)
    std::rethrow_exception(std::move(refusal));
}

std::exception_ptr offer(operation* op, operation::function next, operation::function complete,
                         const any_io_executor& executor) {
  return offer<any_io_executor>(op, next, complete, executor, std::allocator<void>());
}

std::exception_ptr offer_elsewhere(operation* op, operation_endings endings,
                                   completion_work<any_io_executor>& stored, scheduler& owner) {
  return offer_elsewhere<any_io_executor>(op, endings, stored, owner, std::allocator<void>());
}

}  // namespace WEFT_NAMESPACE::detail
