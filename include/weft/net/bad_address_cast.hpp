// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <typeinfo>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::ip {

/// Thrown when an address is converted to an IP version that cannot hold it.
class WEFT_API bad_address_cast : public std::bad_cast {
 public:
  bad_address_cast() = default;
  bad_address_cast(const bad_address_cast&) noexcept = default;
  bad_address_cast& operator=(const bad_address_cast&) noexcept = default;
  ~bad_address_cast() noexcept override;

  const char* what() const noexcept override;
};

}  // namespace WEFT_NAMESPACE::ip
