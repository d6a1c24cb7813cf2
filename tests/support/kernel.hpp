// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include <weft/context/io_context.hpp>
#include <weft/execution/config.hpp>

#include "support/backend.hpp"

namespace weft_test {

/// A test suite that runs on each backend also as on a kernel without membarrier(2).
///
///     using my_test = weft_test::kernel_test;
///     TEST_P(my_test, says_something) { ... context, configuration() ... }
///     WEFT_INSTANTIATE_KERNELS(my_test);
class kernel_test : public ::testing::TestWithParam<std::tuple<weft::backend_kind, bool>> {
 protected:
  static weft::config_from_string configuration() {
    const auto [backend, membarrier] = GetParam();
    return weft::config_from_string(std::string("backend.kind=") + weft::to_string(backend) +
                                    "\nscheduler.membarrier=" + (membarrier ? "1" : "0"));
  }

  weft::io_context context{configuration()};
};

inline std::string kernel_name(const ::testing::TestParamInfo<kernel_test::ParamType>& info) {
  const auto [backend, membarrier] = info.param;
  return std::string(weft::to_string(backend)) + (membarrier ? "" : "_without_membarrier");
}

}  // namespace weft_test

#define WEFT_INSTANTIATE_KERNELS(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                              \
      backend, suite,                                                                    \
      ::testing::Combine(::testing::ValuesIn(weft_test::backends()), ::testing::Bool()), \
      weft_test::kernel_name)
