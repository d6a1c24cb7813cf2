// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "support/backend.hpp"
#include "support/operations.hpp"

namespace weft_test {

/// Tests that hold for every kind of operation, on each backend.
class operation_test : public ::testing::TestWithParam<weft::backend_kind> {
 protected:
  /// Calls `f(family)` for each of the families that `wanted` names, with a new context.
  template <class Wanted, class F>
  void for_each_family(Wanted wanted, F f) {
    for (const operation_family& family : operation_families()) {
      if (!wanted(family))
        continue;
      SCOPED_TRACE(family.name);
      context.emplace(make_context_options(GetParam()));
      f(family);
      context.reset();
      if (HasFatalFailure())
        return;
    }
  }
  static bool all(const operation_family&) { return true; }
  static bool pending(const operation_family& f) { return f.pends; }
  static bool satisfiable(const operation_family& f) { return f.satisfiable; }
  static bool failing(const operation_family& f) { return f.fails == failure::by_fail; }
  static bool allocating(const operation_family& f) { return f.memory == memory_source::handler; }

  weft::any_io_executor executor() { return context->get_executor(); }

  /// Runs until the operation has ended, or for a hundred seconds.
  void run_until_called(const report& r) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (r.calls == 0 && std::chrono::steady_clock::now() < end) {
      context->restart();
      context->run_one_until(end);
    }
    ASSERT_EQ(r.calls, 1) << "the handler was not called";
  }

  std::optional<weft::io_context> context;
};

}  // namespace weft_test
