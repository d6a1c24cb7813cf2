// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/fiber.hpp>

#include <mutex>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

std::exception_ptr aborted() noexcept {
  return exception_of(error::operation_aborted, "fiber");
}

}  // namespace

void fiber_core::ended(std::exception_ptr error) noexcept {
  {
    completed_waits done;
    const std::lock_guard lock(*this);
    has_ended_ = true;
    error_ = std::move(error);
    while (join_operation* const op = joining_.pop()) {
      op->error_ = error_;
      done.grant(*op);
    }
  }
  leave();
}

bool fiber_core::has_ended() noexcept {
  const std::lock_guard lock(*this);
  return has_ended_;
}

bool fiber_core::join(join_operation& op, bool queued) noexcept {
  const std::lock_guard lock(*this);
  if (has_ended_) {
    op.error_ = error_;
    op.become_granted();
    return true;
  }
  if (queued) {
    op.become_pending();
    joining_.push(op);
  }
  return false;
}

void fiber_core::withdraw(core_operation<fiber_core>& op, completed_waits& out) noexcept {
  joining_.remove(static_cast<join_operation&>(op));
  out.abort(op);
}

void fiber_core::take_pending(completed_waits& out) noexcept {
  out.abort(joining_);
}

operation_results<std::exception_ptr> join_operation::take_results() {
  return {is_granted() ? std::move(error_) : aborted()};
}

void fiber_end::drop() noexcept {
  core_->ended(aborted());
  tell_no_more();
}

}  // namespace WEFT_NAMESPACE::detail
