// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

#include <weft/base/error.hpp>

namespace weft_test {

/// The error code of what `f()` throws; none, if it throws nothing. Other exceptions leave.
template <class F>
weft::error_code code_thrown_by(F f) {
  try {
    f();
  } catch (const weft::system_error& e) {
    return e.code();
  }
  return {};
}

/// The same of an exception that was kept, or null.
inline weft::error_code code_of(const std::exception_ptr& e) {
  return code_thrown_by([&] {
    if (e)
      std::rethrow_exception(e);
  });
}

}  // namespace weft_test
