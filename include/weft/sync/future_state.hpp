// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_signal.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/base/owned_pointer.hpp>
#include <weft/base/reference_count.hpp>

#include <weft/context/native_scheduler.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/context/system_context.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>
#include <weft/sync/future_slot.hpp>
#include <weft/sync/outcome.hpp>

namespace WEFT_NAMESPACE::detail {

class future_crowd;

[[noreturn]] WEFT_API void throw_future_error(std::future_errc e);
WEFT_API std::exception_ptr make_future_error(std::future_errc e) noexcept;
WEFT_API std::exception_ptr make_aborted() noexcept;

/// Who produces a result: the executor for callbacks that name none, and the scheduler whose
/// threads do it, if that is known.
struct future_producer {
  any_io_executor executor = system_executor();
  scheduler* loop = nullptr;
  /// Whether what produces the result is queued with `loop`, and so ends before that does.
  bool is_queued = false;

  /// Nobody known, and an executor; an empty one is as good as none.
  static future_producer at(any_io_executor ex) {
    future_producer p;
    if (ex)
      p.executor = std::move(ex);
    return p;
  }
};

/// The scheduler of a context, or null if it has none.
WEFT_API scheduler* find_scheduler(execution_context& context);

/// What produces the result is queued as itself, or is an operation that completes there.
template <class Executor>
future_producer make_future_producer(const Executor& ex, bool is_queued = true) {
  scheduler* const native = native_scheduler(ex);
  scheduler* const loop = native ? native : find_scheduler(executor_context(ex));
  if constexpr (std::is_convertible_v<const Executor&, any_io_executor>)
    return {ex, loop, is_queued && native};
  else
    return {.loop = loop, .is_queued = is_queued && native};
}

/// What a future and its producer share, apart from the result itself. References are those of who
/// could wait for it, and of a promise; another producer needs none: the result that is not there
/// yet keeps it.
class WEFT_API future_state_base {
 public:
  using arrival = basic_future_slot<>::arrival;

  future_state_base(const future_state_base&) = delete;
  future_state_base& operator=(const future_state_base&) = delete;

  void add_reference() noexcept { references_.add(); }
  void drop_reference() noexcept {
    if (references_.drop())
      end();
  }

  const future_producer& producer() const noexcept { return producer_; }
  bool is_ready() const noexcept { return slot_.is_ready(); }

  /// The result is written. By the producer, once; one without a reference must not use this any
  /// more.
  void fulfil() noexcept {
    slot_.fulfil([](future_waiter& waiter) { waiter.ready(); }, [this] { destroy(); });
  }

  /// See basic_future_slot. With a crowd, any number may wait.
  arrival attach(future_waiter& waiter) noexcept {
    return crowd_ ? attach_to_crowd(waiter) : slot_.attach(waiter);
  }
  bool detach(future_waiter& waiter) noexcept {
    return crowd_ ? detach_from_crowd(waiter) : slot_.detach(waiter);
  }
  /// From now on any number may wait. By the only one who could. Throws std::bad_alloc.
  void gather();

  /// Blocks the thread until the result is there, or until the deadline: false. Throws system_error
  /// (would_deadlock) if the result is awaited by the loop that is to produce it.
  void wait() const {
    if (!is_ready())
      wait_until(std::chrono::steady_clock::time_point::max());
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Asks the producer to give up, unless the result is there.
  void request_cancel() {
    if (is_ready())
      return;
    is_cancelled_.store(true, std::memory_order_relaxed);
    function_(this, action::cancel);
  }
  bool is_cancelled() const noexcept { return is_cancelled_.load(std::memory_order_relaxed); }

 protected:
  enum class action : unsigned char { destroy, cancel };
  using function = void (*)(future_state_base*, action);

  future_state_base(function f, future_producer&& producer, std::size_t references) noexcept
      : references_(references), function_(f), producer_(std::move(producer)) {}
  ~future_state_base() {
    if (crowd_) [[unlikely]]
      end_crowd();
  }

 private:
  void end() noexcept {
    if (slot_.is_ready()) [[likely]]
      destroy();
    else
      abandon();
  }
  void abandon() noexcept;
  void destroy() noexcept { function_(this, action::destroy); }
  arrival attach_to_crowd(future_waiter& waiter) noexcept;
  bool detach_from_crowd(future_waiter& waiter) noexcept;
  void end_crowd() noexcept;

  reference_count references_;
  basic_future_slot<> slot_;
  const function function_;
  future_crowd* crowd_ = nullptr;
  // A request: what follows from it is ordered by the signal's lock, or not at all.
  std::atomic<bool> is_cancelled_{false};
  const future_producer producer_;
};

template <class T>
class future_state : public future_state_base {
 public:
  outcome<T> result;

 protected:
  using future_state_base::future_state_base;
  ~future_state() = default;
};

struct drop_future_reference {
  void operator()(future_state_base* state) const noexcept { state->drop_reference(); }
};
template <class State>
using future_reference = owned_pointer<State, drop_future_reference>;

template <class State>
future_reference<State> copy_reference(const future_reference<State>& from) noexcept {
  if (from)
    from->add_reference();
  return future_reference<State>(from.get());
}

/// The state behind a promise: a request to cancel is emitted through a signal.
template <class T>
class promise_state final : public future_state<T> {
 public:
  using memory = operation_owner<promise_state, std::allocator<void>>;

  explicit promise_state(future_producer&& producer) noexcept
      : future_state<T>(&act, std::move(producer), 2) {}

  static promise_state* create(future_producer&& producer) {
    return memory(std::in_place, {}, std::move(producer)).release();
  }

  cancellation_slot slot() noexcept { return signal_.slot(); }

  // Of the promise alone.
  bool has_future = false;
  bool is_satisfied = false;
  bool answers = false;  // something is to be taken out of the slot

 private:
  using base = future_state_base;

  static void act(base* state, typename base::action what) {
    auto* const self = static_cast<promise_state*>(state);
    if (what == base::action::cancel)
      return self->signal_.emit(cancellation_type::all);
    memory(self, {}).reset();
  }

  cancellation_signal signal_;
};

}  // namespace WEFT_NAMESPACE::detail
