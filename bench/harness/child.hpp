// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace bench {

/// Ends the program with what `errno` says.
[[noreturn]] inline void die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

/// A process beside this one, for the clients of a server: its processor time does not count.
class child {
 public:
  /// Forks, and calls `f` there, which returns a checksum. No other thread may run yet.
  template <class F>
  explicit child(F f) {
    int ends[2];
    if (::pipe(ends) != 0 || (pid_ = ::fork()) < 0)
      die("fork");
    if (pid_ == 0) {
      const std::uint64_t sum = f();
      std::_Exit(::write(ends[1], &sum, sizeof sum) == sizeof sum ? 0 : 1);
    }
    ::close(ends[1]);
    answer_ = ends[0];
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { ::close(answer_); }

  /// Its checksum; waits for its end.
  std::uint64_t result() {
    std::uint64_t sum = 0;
    int status = 0;
    if (::read(answer_, &sum, sizeof sum) != sizeof sum || ::waitpid(pid_, &status, 0) != pid_ ||
        status != 0)
      die("the other process");
    return sum;
  }

 private:
  int pid_;
  int answer_;
};

}  // namespace bench
