// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <source_location>
#include <vector>

#include <weft/base/config.hpp>
#include <weft/base/strong_ptr.hpp>

namespace WEFT_NAMESPACE {

/// How a child of a task_group has failed, and where it was started.
struct child_error {
  std::exception_ptr error;
  std::source_location where;
};

/// What the join of a task_group reports if more than one child has failed: all of it, in the order
/// in which the children ended. (The error of one child alone is reported as it is.) Copies share
/// the list.
class WEFT_API group_error : public std::exception {
 public:
  /// Throws std::bad_alloc.
  explicit group_error(std::vector<child_error> errors);
  group_error(const group_error&) noexcept = default;
  group_error& operator=(const group_error&) noexcept = default;
  ~group_error() override;

  /// At least two, none with a null `error`.
  const std::vector<child_error>& errors() const noexcept;

  /// How many there are, and what each of them says, with its place.
  const char* what() const noexcept override;

 private:
  struct contents;
  strong_ptr<contents> contents_;
};

}  // namespace WEFT_NAMESPACE
