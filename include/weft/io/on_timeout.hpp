// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

#include <weft/context/scheduler.hpp>
#include <weft/io/timeout.hpp>
#include <weft/io/timer_clock.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// A case of async_select that waits for a time. (What a case is stands in sync/select.hpp, of
/// which io/ knows nothing.)
template <class Clock>
class timeout_case {
  using clock_access = timer_clock_of<Clock, wait_traits<Clock>>;

 public:
  using result_type = std::monostate;

  explicit timeout_case(const typename Clock::time_point& expiry) noexcept
      : expiry_(clock_access::expiry(expiry)) {}

  class wait {
   public:
    template <class Part>
    explicit wait(Part&& part)
        : wait(part.whole,
               timeout::create(use_timer_service(part.whole.context), clock_access::value,
                               part.what.expiry_, cancellation_type::terminal)) {}
    wait(const wait&) = delete;
    wait& operator=(const wait&) = delete;
    ~wait() { leave(); }

    void leave() noexcept {
      timeout* const t = std::exchange(timeout_, nullptr);
      if (!t)
        return;
      t->signal().slot().clear();
      t->end();
    }

    template <class Locks>
    void list(Locks&) const noexcept {}
    template <class Waits>
    bool perform(Waits&) const noexcept {
      return false;
    }
    void enqueue() const noexcept {}
    /// The part of who is to arm it.
    auto start() noexcept { return armed{std::move(unarmed_)}; }
    const void* id() const noexcept { return this; }
    bool is_aborted() const noexcept { return false; }
    result_type take() const noexcept { return {}; }

   private:
    struct armed {
      timeout::pointer of;
      void arm() const noexcept { of->arm(); }
    };

    template <class Whole>
    wait(Whole& whole, timeout::pointer t) : unarmed_(std::move(t)), timeout_(unarmed_.get()) {
      timeout_->signal().slot().assign([&whole, this](cancellation_type) { whole.end_by(id()); });
      timeout_->begin();
    }

    timeout::pointer unarmed_;
    timeout* timeout_;
  };

 private:
  std::int64_t expiry_;
};

}  // namespace detail

/// A case of async_select: when the time has passed, counted from this call. Its result is a
/// std::monostate. A case that could be performed at once goes before it.
template <class Rep, class Period>
auto on_timeout(const std::chrono::duration<Rep, Period>& d) {
  using clock = std::chrono::steady_clock;
  return detail::timeout_case<clock>(
      detail::saturated_add(detail::clock_now<clock>(), detail::to_duration<clock>(d)));
}

/// The same, at a time of any clock.
template <class Clock, class Duration>
auto on_timeout(const std::chrono::time_point<Clock, Duration>& t) {
  return detail::timeout_case<Clock>(detail::to_time_point<Clock>(t));
}

}  // namespace WEFT_NAMESPACE
