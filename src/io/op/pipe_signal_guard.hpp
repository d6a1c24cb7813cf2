// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace WEFT_NAMESPACE::detail {

/// Blocks SIGPIPE in the calling thread, and takes the one that a write in between has raised: for
/// system calls that have no flag against it. Three system calls, one more if it was raised.
class pipe_signal_guard {
 public:
  pipe_signal_guard() noexcept {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  pipe_signal_guard(const pipe_signal_guard&) = delete;
  pipe_signal_guard& operator=(const pipe_signal_guard&) = delete;
  ~pipe_signal_guard() {
    const int saved = errno;
    if (raised_ && !was_pending_) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  void raised() noexcept { raised_ = true; }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
  bool raised_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
