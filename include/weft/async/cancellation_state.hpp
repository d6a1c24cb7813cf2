// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <utility>

#include <weft/async/cancellation_signal.hpp>

namespace WEFT_NAMESPACE {

class cancellation_state;

namespace detail {

/// For who is about to start an operation with the slot of `state`, perhaps while another thread
/// emits: what is requested from here on reaches that operation, even before it has a handler in
/// the slot.
void arm(const cancellation_state& state) noexcept;

/// The link between a parent slot and a child signal. It lives in the parent slot, as its handler.
class cancellation_link {
 public:
  cancellation_link(const cancellation_link&) = delete;
  cancellation_link& operator=(const cancellation_link&) = delete;

  cancellation_signal& child() noexcept { return child_; }
  void arm() noexcept { child_.core_.arm(); }

  // `cancelled_` is written by the emitting thread and by `clear`. Relaxed: what a request says is
  // only its type, and the child's handlers are ordered by the signal's lock.
  cancellation_type cancelled() const noexcept {
    return static_cast<cancellation_type>(cancelled_.load(std::memory_order_relaxed));
  }
  void clear(cancellation_type mask) noexcept {
    cancelled_.fetch_and(~static_cast<unsigned>(mask), std::memory_order_relaxed);
  }

 protected:
  cancellation_link() = default;
  ~cancellation_link() = default;

  void request(cancellation_type type) noexcept {
    cancelled_.fetch_or(static_cast<unsigned>(type), std::memory_order_relaxed);
  }

 private:
  cancellation_signal child_;
  std::atomic<unsigned> cancelled_{0};
};

template <class InFilter, class OutFilter>
class filtered_cancellation_link final : public cancellation_link {
 public:
  filtered_cancellation_link(InFilter in, OutFilter out)
      : in_(std::move(in)), out_(std::move(out)) {}

  void operator()(cancellation_type type) {
    const cancellation_type in = in_(type);
    if (!in)
      return;
    request(in);
    const cancellation_type out = out_(in);
    if (!!out)
      child().emit(out);
  }

 private:
  [[no_unique_address]] InFilter in_;
  [[no_unique_address]] OutFilter out_;
};

}  // namespace detail

/// Chains a cancellation signal through a composed operation: it answers the slot that the
/// operation was given, remembers what was requested, and passes it on, filtered, through a slot of
/// its own, to which each child operation is bound in its turn.
///
///     cancellation_state state(get_associated_cancellation_slot(handler));
///     child.async_something(bind_cancellation_slot(state.slot(), std::move(intermediate)));
///     ... if (state.cancelled() != cancellation_type::none) finish();
///
/// A filter is a function `cancellation_type(cancellation_type)`: `disable_cancellation`,
/// `enable_terminal_cancellation`, `enable_partial_cancellation`, `enable_total_cancellation` or a
/// user's own. What the incoming filter lets pass counts as cancelled; what the outgoing one lets
/// pass of that reaches the children.
///
/// A light copyable handle: the state itself lives in the parent slot until that is cleared or
/// given another handler. The members may be called on one thread while another one emits.
class cancellation_state {
 public:
  /// Connected to nothing: never cancelled.
  constexpr cancellation_state() noexcept = default;

  /// Installs itself in `slot`, if that is connected. Without filters, terminal requests pass.
  /// Throws std::bad_alloc.
  template <class CancellationSlot>
  constexpr explicit cancellation_state(CancellationSlot slot)
      : cancellation_state(slot, enable_terminal_cancellation()) {}

  template <class CancellationSlot, class Filter>
  constexpr cancellation_state(CancellationSlot slot, Filter filter)
      : cancellation_state(slot, filter, filter) {}

  template <class CancellationSlot, class InFilter, class OutFilter>
  constexpr cancellation_state(CancellationSlot slot, InFilter in_filter, OutFilter out_filter) {
    if (slot.is_connected())
      link_ = &slot.template emplace<detail::filtered_cancellation_link<InFilter, OutFilter>>(
          std::move(in_filter), std::move(out_filter));
  }

  /// The slot for the child operations, which use it one at a time.
  cancellation_slot slot() const noexcept {
    return link_ ? link_->child().slot() : cancellation_slot();
  }

  /// All types that have been requested, and not cleared, so far.
  cancellation_type cancelled() const noexcept {
    return link_ ? link_->cancelled() : cancellation_type::none;
  }

  /// Forgets requests of the types in `mask`.
  void clear(cancellation_type mask = cancellation_type::all) noexcept {
    if (link_)
      link_->clear(mask);
  }

 private:
  friend void detail::arm(const cancellation_state& state) noexcept;

  detail::cancellation_link* link_ = nullptr;
};

inline void detail::arm(const cancellation_state& state) noexcept {
  if (state.link_)
    state.link_->arm();
}

}  // namespace WEFT_NAMESPACE
