// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/channel_core.hpp>

#include <string>

#include "base/never_destroyed.hpp"

namespace WEFT_NAMESPACE {

error_code detail::to_error_code(channel_outcome outcome) noexcept {
  switch (outcome) {
    case channel_outcome::closed: return error::channel_closed;
    case channel_outcome::lagged: return error::channel_lagged;
    case channel_outcome::no_memory: return error::no_memory;
    default: return {};
  }
}

namespace error {
namespace {

class channel_messages final : public error_category {
 public:
  const char* name() const noexcept override { return "weft.channel"; }
  std::string message(int value) const override {
    switch (value) {
      case channel_closed: return "Channel closed";
      case channel_cancelled: return "Channel cancelled";
      case channel_lagged:
        return "Values of the channel were overwritten before they were received";
      default: return "weft.channel error";
    }
  }
};

constinit const detail::never_destroyed<channel_messages> category;

}  // namespace

const error_category& get_channel_category() noexcept {
  return category.object;
}

}  // namespace error
}  // namespace WEFT_NAMESPACE
