// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// An operation as a move-only nullary function: called at most once, and destroyed un-called
/// with the object. make_function_operation gives back the operation inside, so that a function
/// whose type was erased on its way to an executor is not allocated again there.
class operation_function {
 public:
  explicit operation_function(operation* op) noexcept : op_(op) {}
  operation_function(operation_function&& other) noexcept : op_(other.release()) {}
  operation_function& operator=(operation_function&& other) noexcept {
    operation_function(std::move(other)).swap(*this);
    return *this;
  }
  ~operation_function() {
    if (op_)
      op_->destroy();
  }

  void operator()() { release()->invoke(); }
  operation* release() noexcept { return std::exchange(op_, nullptr); }
  void swap(operation_function& other) noexcept { std::swap(op_, other.op_); }

 private:
  operation* op_;
};

}  // namespace WEFT_NAMESPACE::detail
