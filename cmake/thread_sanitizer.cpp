// SPDX-License-Identifier: BSL-1.0
// Part of every program that is built with ThreadSanitizer. Its runtime of GCC 12 makes its record
// of a thread's signals at the thread's first blocking call, and loses a signal that comes in
// between (seen as an epoll_wait that SIGINT does not end). Here the call is made before anybody
// could send one to the main thread.
#include <poll.h>

namespace {

[[maybe_unused]] const int first_blocking_call = ::poll(nullptr, 0, 0);

}  // namespace
