// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace boost {

template <std::size_t Size>
class aligned_storage {
 public:
  static constexpr std::size_t size = Size;
  void* address() { return bytes_; }

 private:
  alignas(std::max_align_t) unsigned char bytes_[Size];
};

}  // namespace boost
