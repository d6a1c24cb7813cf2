// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>

#include <weft/base/config.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/steady_timer.hpp>

namespace bench {

/// weft, as a parameter of what is written once for it and for Asio.
struct weft_net {
  using io_context = weft::io_context;
  using work_guard = weft::executor_work_guard<io_context::executor_type>;
  using strand = weft::strand<io_context::executor_type>;
  using steady_timer = weft::steady_timer;
  using error_code = weft::error_code;

  static std::unique_ptr<io_context> make_context(int concurrency_hint) {
    return std::make_unique<io_context>(concurrency_hint);
  }
  static std::string version() {
    return "weft " + std::to_string(WEFT_VERSION / 10000) + '.' +
           std::to_string(WEFT_VERSION / 100 % 100) + '.' + std::to_string(WEFT_VERSION % 100);
  }
};

}  // namespace bench
