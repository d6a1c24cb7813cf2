// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// What signal sets of all executors have in common.
class signal_set_base {
 public:
  /// How the kernel is to treat a signal while it is in a set; a bit mask.
  enum class flags : int {
    none = 0,
    /// Interrupted system calls are restarted where the kernel can (SA_RESTART).
    restart = 1,
    /// SIGCHLD is not raised for children that stop or continue (SA_NOCLDSTOP).
    no_child_stop = 2,
    /// Children that end leave no zombie (SA_NOCLDWAIT).
    no_child_wait = 4,
    /// Whatever another set has asked for; `restart` if none has.
    dont_care = -1
  };
  using flags_t = flags;

 protected:
  ~signal_set_base() = default;
};

constexpr signal_set_base::flags operator&(signal_set_base::flags a,
                                           signal_set_base::flags b) noexcept {
  return static_cast<signal_set_base::flags>(static_cast<int>(a) & static_cast<int>(b));
}
constexpr signal_set_base::flags operator|(signal_set_base::flags a,
                                           signal_set_base::flags b) noexcept {
  return static_cast<signal_set_base::flags>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr signal_set_base::flags operator^(signal_set_base::flags a,
                                           signal_set_base::flags b) noexcept {
  return static_cast<signal_set_base::flags>(static_cast<int>(a) ^ static_cast<int>(b));
}
constexpr signal_set_base::flags operator~(signal_set_base::flags a) noexcept {
  return static_cast<signal_set_base::flags>(~static_cast<int>(a));
}
constexpr signal_set_base::flags& operator&=(signal_set_base::flags& a,
                                             signal_set_base::flags b) noexcept {
  return a = a & b;
}
constexpr signal_set_base::flags& operator|=(signal_set_base::flags& a,
                                             signal_set_base::flags b) noexcept {
  return a = a | b;
}
constexpr signal_set_base::flags& operator^=(signal_set_base::flags& a,
                                             signal_set_base::flags b) noexcept {
  return a = a ^ b;
}

}  // namespace WEFT_NAMESPACE
