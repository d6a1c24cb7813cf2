// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// The giving of an operation, as an operation_function, to an executor that may refuse it: by an
/// exception, after which the function that it was given is destroyed, whoever had it by then. For
/// that the operation must not end, so it asks `ended` first:
///   1. An operation that is called, or that is destroyed elsewhere or later, was accepted.
///   2. One that is destroyed on the thread that gives it away, before the executor has returned,
///      remains the giver's. It was refused if the executor has thrown, dropped if not.
///
/// The handovers of one thread nest, and form a list in which `ended` looks: O(depth), no locks.
class WEFT_API handover {
 public:
  explicit handover(operation* op) noexcept;
  handover(const handover&) = delete;
  handover& operator=(const handover&) = delete;
  ~handover();

  /// Changes how an operation is ended, which is in no queue.
  static void ends_by(operation* op, operation::function f) noexcept { op->ends_by(f); }

  /// Whether the operation is the giver's again.
  bool is_returned() const noexcept { return is_returned_; }

  /// The operation is called. Its address means nothing to a handover from here on.
  static void called(operation* op) noexcept { end(op, false); }

  /// The operation is to be destroyed. Returns whether it must not be: it is the giver's.
  static bool destroyed(operation* op) noexcept { return end(op, true); }

 private:
  static bool end(operation* op, bool returns) noexcept;

  operation* op_;
  handover* const outer_;
  bool is_returned_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
