// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::observe {

/// Tells from looks at workers, each at a time that the caller gives, which of them are held.
/// Nothing here reads a clock. Times are nanoseconds. O(workers^2) per look; they are few.
class stall_watch {
 public:
  /// What is seen of a worker.
  struct sight {
    std::uint64_t worker;
    std::uint64_t handlers;  // that it has begun
    bool is_asleep;
  };
  struct held {
    std::uint64_t worker;
    std::uint64_t handlers;
    std::int64_t since;  // when it was first seen in this handler
    bool is_stalled = false;
    bool is_here = true;  // seen so in this look
  };

  explicit stall_watch(std::int64_t limit) noexcept : limit_(limit) {}

  /// A look begins.
  void begin(std::int64_t now) noexcept {
    now_ = now;
    for (held& h : held_)
      h.is_here = false;
  }

  /// Returns whether the worker has just been found stalled.
  bool see(const sight& s) {
    if (s.is_asleep || s.handlers == 0)
      return false;
    for (held& h : held_)
      if (h.worker == s.worker && h.handlers == s.handlers) {
        h.is_here = true;
        if (h.is_stalled || now_ - h.since < limit_)
          return false;
        h.is_stalled = true;
        return true;
      }
    held_.push_back({.worker = s.worker, .handlers = s.handlers, .since = now_});
    return false;
  }

  /// The look is over: calls `f(held, duration)` for each stall that has ended.
  template <class F>
  void finish(F f) {
    for (const held& h : held_)
      if (!h.is_here && h.is_stalled)
        f(h, now_ - h.since);
    std::erase_if(held_, [](const held& h) { return !h.is_here; });
  }

  /// How long a worker that is stalled has been seen in its handler.
  std::int64_t duration(std::uint64_t worker) const noexcept {
    const auto h = std::find_if(held_.begin(), held_.end(), [&](const held& candidate) {
      return candidate.worker == worker && candidate.is_here;
    });
    return h == held_.end() ? 0 : now_ - h->since;
  }

 private:
  const std::int64_t limit_;
  std::int64_t now_ = 0;
  std::vector<held> held_;
};

}  // namespace WEFT_NAMESPACE::observe
