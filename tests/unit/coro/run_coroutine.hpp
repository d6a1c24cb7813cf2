// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/co_spawn.hpp>

namespace weft_test {

/// Runs a coroutine to its end, in a context of its own; what leaves it leaves this.
template <class F>
auto run(F f) {
  weft::io_context context;
  auto future = weft::co_spawn(context, std::move(f), weft::use_future);
  context.run();
  return future.get();
}

}  // namespace weft_test
