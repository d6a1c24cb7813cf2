// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <mutex>
#include <source_location>

#include <weft/async/cancellation_signal.hpp>
#include <weft/async/disposition.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

/// What a task_group or a task_manager keeps of an operation that it has started: the signal that
/// cancels it, and where it was started.
///
/// Who uses it: the operation, until it has ended; who starts it, until the initiating function has
/// returned; each cancellation that is about to emit its signal. The last of them takes it out of
/// the list. So a cancellation may walk through the list and let go of the core's lock at each
/// child, under which no signal may be emitted.
class child_task : public waiter {
 public:
  cancellation_signal& signal() noexcept { return signal_; }
  const std::source_location& where() const noexcept { return where_; }

 protected:
  explicit child_task(const std::source_location& where) noexcept : where_(where) {}
  ~child_task() = default;

 private:
  friend class child_list;

  cancellation_signal signal_;
  std::source_location where_;
  // Guarded by the lock of the core.
  unsigned uses_ = 0;
  bool has_ended_ = false;
};

/// The operations that a core has started and that have not ended. Guarded by the core's lock.
///
/// Cancelling races with starting. Who starts a child adds it, starts it, then looks under the lock
/// whether it is to be cancelled and emits its signal if so; who cancels stores the request under
/// the lock, then walks. So whichever comes second finds the other one.
class child_list {
 public:
  /// Adds one that is about to be started: used by the operation and by who starts it.
  void add(child_task& c) noexcept {
    c.uses_ = 2;
    children_.push(c);
  }

  /// Its operation has ended. Whether that was its last use: then it is the caller's.
  bool end(child_task& c) noexcept {
    c.has_ended_ = true;
    return drop(c);
  }

  void use(child_task& c) noexcept { ++c.uses_; }
  bool drop(child_task& c) noexcept {
    if (--c.uses_ != 0)
      return false;
    children_.remove(c);
    return true;
  }

  /// Emits the signals of all. `Core::dispose(child_task&)` is given those that it is the last to
  /// use, without the lock.
  template <class Core>
  void emit(Core& core, cancellation_type type) noexcept {
    child_task* child = nullptr;
    bool has_ended = false;
    const auto take = [&](child_task* c) {
      child = c;
      if (c) {
        has_ended = c->has_ended_;
        use(*c);
      }
    };
    {
      const std::lock_guard lock(core);
      take(children_.front());
    }
    while (child_task* const current = child) {
      if (!has_ended)
        emit_to(*current, type);
      bool is_last;
      {
        const std::lock_guard lock(core);
        take(children_.after(*current));
        is_last = drop(*current);
      }
      if (is_last)
        core.dispose(*current);
    }
  }

  /// Emits the signal of one that the caller uses.
  static void emit_to(child_task& c, cancellation_type type) noexcept {
    try {
      c.signal().emit(type);
    } catch (...) {
      // Thrown by a canceller of the program's own, of which who cancels a crowd knows nothing.
    }
  }

 private:
  wait_list<child_task> children_;
};

/// The error in the results of an operation, or null.
inline std::exception_ptr error_in() noexcept {
  return nullptr;
}
template <class First, class... Rest>
std::exception_ptr error_in(const First& first, const Rest&...) noexcept {
  if constexpr (std::is_error_code_enum<First>::value)
    return to_exception_ptr(error_code(first));
  else if constexpr (disposition<First>)
    return first != no_error ? to_exception_ptr(First(first)) : nullptr;
  else
    return nullptr;
}

/// Whether it is a system_error that says operation_aborted.
WEFT_API bool is_aborted(const std::exception_ptr& error) noexcept;

}  // namespace WEFT_NAMESPACE::detail
