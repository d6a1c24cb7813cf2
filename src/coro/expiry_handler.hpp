// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE::detail {

/// The handler of a core's wait for its next deadline: keeps the core, and calls its `expire`,
/// unless the wait was cancelled.
template <class Core>
class expiry_handler {
 public:
  explicit expiry_handler(Core& core) noexcept : core_(&core) { core.retain(); }
  expiry_handler(expiry_handler&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  expiry_handler& operator=(expiry_handler&&) = delete;
  ~expiry_handler() {
    if (core_)
      core_->release();
  }

  void operator()(const error_code& ec) const {
    if (!ec)
      core_->expire();
  }

 private:
  Core* core_;
};

}  // namespace WEFT_NAMESPACE::detail
