// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// Waits until the descriptor is ready for the operations of a queue: read, write, or except (an
/// error, or out-of-band data). Transfers nothing.
class WEFT_API readiness_operation : public status_operation {
 public:
  readiness_operation(function f, scheduler& owner, io_queue what) noexcept
      : status_operation(f, owner, wait_kind, what) {}

 private:
  static const io_kind wait_kind;
};

/// The events of poll(2) that make a queue ready; errors do always.
WEFT_API short poll_events(io_queue queue) noexcept;

/// Waits for poll events of `fd` for at most `milliseconds`, without limit if negative. Returns
/// whether one came; an error is left in `ec`. Retries EINTR with the time that is left.
WEFT_API bool poll_descriptor(int fd, short events, int milliseconds, error_code& ec) noexcept;

}  // namespace WEFT_NAMESPACE::detail
