// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/coro/callable.hpp>
#include <weft/coro/resume_event.hpp>

#include "harness/weft_net.hpp"
#include "resume.hpp"

namespace resume {

/// A callable that waits for a resume_event.
template <class Sharing>
class waiter {
 public:
  explicit waiter(std::uint64_t& sum) : callable_(add(event_, sum)) { callable_.start(); }
  void resume(std::uint64_t n) { event_.resume(n); }

 private:
  using event = weft::resume_event<std::uint64_t, Sharing>;

  static weft::callable<> add(event& e, std::uint64_t& sum) {
    for (;;)
      sum += co_await e;
  }

  event event_;
  weft::callable<> callable_;
};

}  // namespace resume
