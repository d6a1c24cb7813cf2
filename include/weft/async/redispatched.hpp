// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/work_tracker.hpp>

namespace WEFT_NAMESPACE::detail {

/// A handler on its way through an executor that is not its associated one: keeps work outstanding
/// on `Executor`, the associated one, and is dispatched there when it is called.
template <class Handler, class Executor>
class redispatched {
 public:
  template <class H>
  redispatched(H&& handler, const Executor& ex) : work_(ex), handler_(std::forward<H>(handler)) {}

  void operator()() {
    auto allocator = get_associated_allocator(handler_);
    auto work(std::move(work_));
    detail::executor_dispatch(work.get_executor(), std::move(handler_), allocator);
  }

 private:
  work_tracker<Executor> work_;
  Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail
