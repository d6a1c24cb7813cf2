// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/async/cancellation_signal.hpp>

namespace weft_test {

/// A handler that answers to a cancellation signal.
template <class Function>
class cancellable {
 public:
  using cancellation_slot_type = weft::cancellation_slot;

  cancellable(weft::cancellation_signal& signal, Function f)
      : slot_(signal.slot()), function_(std::move(f)) {}
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  template <class... Args>
  void operator()(Args&&... args) {
    function_(std::forward<Args>(args)...);
  }

 private:
  weft::cancellation_slot slot_;
  Function function_;
};

}  // namespace weft_test
