// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/observation.hpp"

#include <algorithm>

#include <weft/base/clock.hpp>

#include "base/atomic_max.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

/// Chooses one in 64 of what one thread does, at random distances.
class sampler {
 public:
  bool chooses() noexcept {
    if (left_ == 0)
      left_ = next_distance();
    return --left_ == 0;
  }

 private:
  std::uint32_t next_distance() noexcept {
    if (random_ == 0)
      random_ = next_seed();
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return 1 + random_ % 127;
  }

  /// Another for each sampler, and never 0.
  static std::uint32_t next_seed() noexcept {
    static constinit std::atomic<std::uint32_t> seeds{0};
    return (2 * seeds.fetch_add(1, std::memory_order_relaxed) + 1) * 2654435769u;
  }

  std::uint32_t left_ = 0;
  std::uint32_t random_ = 0;  // xorshift32
};

constinit thread_local sampler queued_here;
constinit thread_local sampler run_here;

/// Stands in a place while it is filled in.
constexpr char being_noted = 0;

}  // namespace

void shared_histogram::add(std::int64_t nanoseconds) noexcept {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(0, nanoseconds));
  buckets_[log_buckets::index(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  raise_to(max_, value);
}

void observation::measure(bool on) noexcept {
  // What was noted before and has run unobserved is forgotten.
  if (on && !measures())
    for (place& p : places_)
      p.op.store(nullptr, std::memory_order_relaxed);
  measures_.store(on, std::memory_order_relaxed);
}

observation::place& observation::place_of(const operation* op) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(op);
  return places_[(address >> 6 ^ address >> 10) % places_.size()];
}

void observation::queued(const operation* op) noexcept {
  note_queued(op);
  if (!measures() || !queued_here.chooses())
    return;
  place& p = place_of(op);
  const void* none = nullptr;
  if (!p.op.compare_exchange_strong(none, &being_noted, std::memory_order_acquire,
                                    std::memory_order_relaxed))
    return;
  p.since.store(steady_now(), std::memory_order_relaxed);
  p.op.store(op, std::memory_order_release);
}

void observation::end_delay(const operation* op) noexcept {
  place& p = place_of(op);
  if (p.op.load(std::memory_order_acquire) != op)
    return;
  queue_delay_.add(steady_now() - p.since.load(std::memory_order_relaxed));
  p.op.store(nullptr, std::memory_order_release);
}

void observation::run(operation* op, std::atomic<const void*>& origin) {
  find_origin(op, origin);
  if (!measures())
    return op->invoke();
  end_delay(op);
  if (!run_here.chooses())
    return op->invoke();
  struct timed {
    ~timed() { into.add(steady_now() - began); }
    shared_histogram& into;
    const std::int64_t began = steady_now();
  } measured{run_time_};
  op->invoke();
}

}  // namespace WEFT_NAMESPACE::detail
