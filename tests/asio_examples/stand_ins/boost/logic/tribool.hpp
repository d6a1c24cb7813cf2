// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace boost {

enum indeterminate_t { indeterminate };

/// True, false, or neither, when both `x` and `!x` are false as conditions.
class tribool {
 public:
  tribool() : tribool(false) {}
  tribool(bool value) : true_(value), false_(!value) {}
  tribool(indeterminate_t) : true_(false), false_(false) {}
  explicit operator bool() const { return true_; }
  bool operator!() const { return false_; }

 private:
  bool true_;
  bool false_;
};

}  // namespace boost
