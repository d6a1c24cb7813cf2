// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <weft/async/async_initiate.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error_code.hpp>
#include <weft/execution/any_io_executor.hpp>

#include "support/operations.hpp"

namespace weft_test {

/// What became of one wait for an operation.
struct wait_outcome {
  report operation;
  int handlers = 1;  // of the operation's own, which `operation` tells of
  std::atomic<int> ended{0};
  std::atomic<int> let_go{0};  // waits whose variables are destroyed
  weft::error_code result;
  std::function<void()> look;  // for a wait that nobody calls back: sees whether it has ended
};

/// What a wait keeps while it lasts.
class waiting {
 public:
  explicit waiting(wait_outcome& o) : outcome_(&o, [](wait_outcome* w) { ++w->let_go; }) {}

  void end(weft::error_code ec) const {
    outcome_->result = ec;
    ++outcome_->ended;
  }

 private:
  std::shared_ptr<wait_outcome> outcome_;
};

/// Starts the operation of a case, with any token: `void(error_code)`.
template <class Token>
auto async_perform(operation_case& object, report& r, weft::any_io_executor executor,
                   Token&& token) {
  return weft::async_initiate<Token, void(weft::error_code)>(
      [](auto handler, operation_case* o, report* to, const weft::any_io_executor& ex) {
        const weft::any_io_executor own(weft::get_associated_executor(handler, ex));
        const weft::cancellation_slot slot = weft::get_associated_cancellation_slot(handler);
        o->start(probe(*to, own, slot,
                       weft::any_completion_handler<void(weft::error_code)>(std::move(handler))));
      },
      token, &object, &r, std::move(executor));
}

/// A style of waiting: has somebody wait for the operation of `object`, who can be cancelled
/// through `slot`.
struct waiting_style {
  std::string name;
  void (*start)(operation_case& object, wait_outcome& outcome, weft::any_io_executor executor,
                weft::cancellation_slot slot);
  bool is_direct = false;  ///< For cases that are each a direct_wait.
};

/// Every style.
std::span<const waiting_style> waiting_styles();

}  // namespace weft_test
