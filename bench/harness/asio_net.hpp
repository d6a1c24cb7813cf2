// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/version.hpp>
#include <memory>
#include <string>

namespace bench {

/// Asio, as a parameter of what is written once for it and for weft.
struct asio_net {
  using io_context = asio::io_context;
  using work_guard = asio::executor_work_guard<io_context::executor_type>;
  using strand = asio::strand<io_context::executor_type>;
  using steady_timer = asio::steady_timer;
  using error_code = std::error_code;

  static std::unique_ptr<io_context> make_context(int concurrency_hint) {
    return std::make_unique<io_context>(concurrency_hint);
  }
  static std::string version() {
    return "Asio " + std::to_string(ASIO_VERSION / 100000) + '.' +
           std::to_string(ASIO_VERSION / 100 % 1000) + '.' + std::to_string(ASIO_VERSION % 100);
  }
};

}  // namespace bench
