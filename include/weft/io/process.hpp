// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include <weft/io/process/basic_child.hpp>
#include <weft/io/process/exit_status.hpp>
#include <weft/io/process/spawn_options.hpp>

namespace WEFT_NAMESPACE::process {

/// Starts a program as a child of this process; see basic_child::spawn. `source` is an executor, or
/// an execution context whose executor is used. With `ec`, a child that could not be started is
/// returned as none.
///
///     process::child c = process::spawn(context, "sort", {"-r"},
///                                       {.in = to_child, .out = process::output::file("sorted")});
template <class Source>
  requires std::constructible_from<child, Source&>
[[nodiscard]] child spawn(Source&& source, const std::string& program,
                          const std::vector<std::string>& arguments = {},
                          const spawn_options& options = {}) {
  child result(source);
  result.spawn(program, arguments, options);
  return result;
}
template <class Source>
  requires std::constructible_from<child, Source&>
[[nodiscard]] child spawn(Source&& source, const std::string& program,
                          const std::vector<std::string>& arguments, const spawn_options& options,
                          error_code& ec) {
  child result(source);
  result.spawn(program, arguments, options, ec);
  return result;
}

}  // namespace WEFT_NAMESPACE::process
