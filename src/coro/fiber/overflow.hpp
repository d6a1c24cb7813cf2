// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

class fiber_base;

/// The fiber that runs on the calling thread, or null. Safe in a signal handler on a thread that
/// watches.
const fiber_base* running_fiber() noexcept;

/// Has overflows of fibers' stacks on this thread reported: installs the handler of SIGSEGV, once
/// in the process, and gives this thread an alternative signal stack if it has none. What cannot be
/// done is left out: then an overflow ends the program without a message.
void watch_for_overflow() noexcept;

/// From now on no thread watches.
void ignore_overflow() noexcept;

}  // namespace WEFT_NAMESPACE::detail
