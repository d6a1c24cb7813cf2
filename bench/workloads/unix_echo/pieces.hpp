// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "echo.hpp"

namespace unix_echo {

/// An end whose messages come in pieces, in memory that is not its own.
class assembled : public peer {
 public:
  using peer::peer;

  /// Takes a piece. True: `data` is a message. There is never more than one, for each is answered
  /// before the next is sent.
  bool take(const void* piece, std::size_t size) {
    std::memcpy(data.data() + filled_, piece, std::min(size, message_size - filled_));
    filled_ += size;
    if (filled_ < message_size)
      return false;
    if (filled_ > message_size)
      die("more came than was sent");
    filled_ = 0;
    return true;
  }

 private:
  std::size_t filled_ = 0;
};

}  // namespace unix_echo
