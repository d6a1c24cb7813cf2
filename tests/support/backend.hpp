// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <weft/context/io_context.hpp>

namespace weft_test {

/// The backends to test: epoll, and io_uring where the kernel permits it. With WEFT_REQUIRE_URING
/// in the environment its absence is a failure, not a smaller list.
inline std::vector<weft::backend_kind> backends() {
  std::vector<weft::backend_kind> result{weft::backend_kind::epoll};
  if (weft::backend_available(weft::backend_kind::uring) || std::getenv("WEFT_REQUIRE_URING"))
    result.push_back(weft::backend_kind::uring);
  return result;
}

inline weft::io_context_options make_context_options(weft::backend_kind kind, int hint = -1) {
  return {.concurrency_hint = hint, .single_thread = false, .backend = kind};
}

/// A test suite that runs once on each backend, with a context of its own:
///
///     using my_test = weft_test::backend_test;
///     TEST_P(my_test, says_something) { ... context ... }
///     WEFT_INSTANTIATE_BACKENDS(my_test);
class backend_test : public ::testing::TestWithParam<weft::backend_kind> {
 protected:
  weft::io_context context{make_context_options(GetParam())};
};

inline std::string backend_name(const ::testing::TestParamInfo<weft::backend_kind>& info) {
  return weft::to_string(info.param);
}

}  // namespace weft_test

#define WEFT_INSTANTIATE_BACKENDS(suite)                                               \
  INSTANTIATE_TEST_SUITE_P(backend, suite, ::testing::ValuesIn(weft_test::backends()), \
                           weft_test::backend_name)
