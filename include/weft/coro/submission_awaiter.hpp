// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include <weft/async/deferred.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/operation_awaiter.hpp>

namespace WEFT_NAMESPACE::detail {

/// Has a coroutine wait for a post or a defer. If that is to the scheduler that the coroutine's
/// executor hands functions to, the logical thread itself is queued there; otherwise a handler
/// waits.
template <submission How, class Target, class Thread>
class submission_awaiter {
  using operation_type = deferred_async_operation<void(), initiate_submission_to<How, Target>>;
  using handler_awaiter = operation_awaiter<operation_type, Thread>;

 public:
  submission_awaiter(operation_type&& post, Thread& thread)
      : thread_(thread), is_direct_(queues(post, thread)) {
    if (!is_direct_) [[unlikely]]
      std::construct_at(&handler_, std::move(post), thread);
  }
  submission_awaiter(const submission_awaiter&) = delete;
  submission_awaiter& operator=(const submission_awaiter&) = delete;
  ~submission_awaiter() {
    if (!is_direct_) [[unlikely]]
      std::destroy_at(&handler_);
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) {
    return is_direct_ ? thread_.resume_later() : handler_.await_suspend(h);
  }
  void await_resume() {
    if (!is_direct_) [[unlikely]]
      handler_.await_resume();
  }

 private:
  static bool queues(operation_type& post, Thread& thread) noexcept {
    return How != submission::dispatch && thread.native() &&
           native_scheduler(deferred_access::initiation(post).get_executor()) == thread.native();
  }

  Thread& thread_;
  const bool is_direct_;
  union {
    handler_awaiter handler_;  // if it is not direct
  };
};

}  // namespace WEFT_NAMESPACE::detail
