// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <source_location>

namespace weft_test {

/// Expects that `misuse()` ends the program by an assertion that says `what`: in a process started
/// anew, whatever threads this one has.
template <class F>
void expect_assertion(F misuse, const char* what,
                      std::source_location where = std::source_location::current()) {
#ifdef NDEBUG
  GTEST_SKIP() << "there are no assertions";
#endif
  const ::testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), what);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(misuse(), what);
}

}  // namespace weft_test
