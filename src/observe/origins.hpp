// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::observe {

/// While one of these lives, the stack of each call that starts or queues an operation is
/// remembered, of the last such operation at each address: so of every one that is pending or
/// queued.
///
/// Equal stacks are kept once, for the rest of the process's life; their number is bounded by the
/// program's text. What is kept per operation goes with the last of these.
class origins {
 public:
  origins();
  origins(const origins&) = delete;
  origins& operator=(const origins&) = delete;
  ~origins();

  /// The addresses that `found` (by detail::find_origin) stands for; none for null.
  static std::span<void* const> addresses(const void* found) noexcept;
};

}  // namespace WEFT_NAMESPACE::observe
