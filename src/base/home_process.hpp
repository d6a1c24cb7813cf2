// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// How many forks lie between the beginning of the program and this process.
unsigned fork_count() noexcept;

/// The process in which something was made, or whose it has become: a child of a fork finds that it
/// is another. (A process number does not tell: in a namespace of its own a child may have its
/// parent's.)
class home_process {
 public:
  home_process() noexcept : forks_(fork_count()) {}
  /// That of objects without construction at run time.
  static constexpr home_process first() noexcept { return home_process(0); }

  bool is_here() const noexcept { return forks_ == fork_count(); }
  void move_here() noexcept { forks_ = fork_count(); }

 private:
  constexpr explicit home_process(unsigned forks) noexcept : forks_(forks) {}

  unsigned forks_;
};

}  // namespace WEFT_NAMESPACE::detail
