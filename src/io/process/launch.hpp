// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include <weft/base/error_code.hpp>
#include <weft/io/process/spawn_options.hpp>

namespace WEFT_NAMESPACE::detail {

/// A process that has begun to execute its program.
struct launched_child {
  int id = -1;
  int pidfd = -1;
};

/// Starts a program, and opens the pipes that `options` name.
error_code launch(const std::string& program, const std::vector<std::string>& arguments,
                  const process::spawn_options& options, launched_child& child) noexcept;

}  // namespace WEFT_NAMESPACE::detail
