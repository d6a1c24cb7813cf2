// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {
struct execute_function {
  template <class Executor, class Function>
    requires execution::executor_of<Executor, Function>
  void operator()(const Executor& ex, Function&& f) const {
    ex.execute(std::forward<Function>(f));
  }
};
}  // namespace detail

namespace execution {

/// `execute(ex, f)`: `ex.execute(f)`. For programs written to earlier forms of the executors
/// proposal.
inline constexpr detail::execute_function execute{};

}  // namespace execution
}  // namespace WEFT_NAMESPACE
