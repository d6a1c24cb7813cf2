// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_type.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/base/word_mutex.hpp>

namespace WEFT_NAMESPACE {

class cancellation_slot;

namespace detail {

template <class Slot>
class slot_lock;
class cancellation_link;

/// A handler in a slot: a header before the function object, in one block.
struct cancellation_node {
  using call_function = void (*)(cancellation_node*, cancellation_type);
  using destroy_function = void (*)(cancellation_node*) noexcept;

  call_function call;
  destroy_function destroy;
  std::size_t size;
  std::size_t alignment;
  unsigned calls = 0;    // emissions that are inside the handler now, all on one thread
  bool retired = false;  // replaced or cleared by its own emission: destroyed when `calls` is 0
};

/// What a signal and its slot share: the handler, and the recursive lock that lets `emit` meet
/// `emplace` and `clear` on other threads.
///
/// Protocol, for the author of an operation:
///   1. `emit` holds the lock while it calls the handler; `emplace`, `assign` and `clear` take it.
///      So once `clear` has returned on one thread, no other thread is inside the handler, nor will
///      enter it: an operation that clears its slot before it frees itself is never touched later.
///   2. An operation installs its handler before another thread can complete it. If the handler
///      cannot yet work then (nothing has been submitted), hold a `detail::slot_lock` around
///      install and submission: an emission, and the completion's `clear`, wait for it.
///   3. Lock order: a signal before its child signals (cancellation_state), a signal before any
///      lock of an engine. Whoever completes an operation holds no engine lock when it clears.
///   4. An `emit` that finds no handler is lost, but for a signal that was armed: there the next
///      handler is called with it, when the lock that it was installed under is let go of. So who
///      arms, looks whether it has been cancelled, and then starts an operation, misses nothing.
///   5. On one thread everything may nest: a handler may clear or replace itself (it is destroyed
///      when it has returned), or emit this signal or others.
///
/// `handler_` and the nodes are guarded by the lock. Uncontended, a lock and unlock are
/// two atomic read-modify-writes; waiting threads sleep.
class WEFT_API cancellation_core {
 public:
  cancellation_core() = default;
  cancellation_core(const cancellation_core&) = delete;
  cancellation_core& operator=(const cancellation_core&) = delete;
  ~cancellation_core();

  void lock() noexcept;
  void unlock() noexcept;

  void emit(cancellation_type type);
  void clear() noexcept;
  bool has_handler() const noexcept;
  /// From now on an `emit` is kept that finds no handler. One that was kept is forgotten.
  void arm() noexcept;

  template <class Handler, class... Args>
  Handler& emplace(Args&&... args) {
    struct node final : cancellation_node {
      explicit node(Args&&... a)
          : cancellation_node{&call_handler, &destroy_handler, sizeof(node), alignof(node)},
            handler(std::forward<Args>(a)...) {}
      static void call_handler(cancellation_node* n, cancellation_type type) {
        static_cast<node*>(n)->handler(type);
      }
      static void destroy_handler(cancellation_node* n) noexcept { static_cast<node*>(n)->~node(); }
      Handler handler;
    };

    locked guard(*this);
    remove();
    void* memory = thread_memory::allocate(sizeof(node), alignof(node));
    node* n;
    try {
      n = ::new (memory) node(std::forward<Args>(args)...);
    } catch (...) {
      thread_memory::deallocate(memory, sizeof(node), alignof(node));
      throw;
    }
    remove();
    handler_ = n;
    return n->handler;
  }

 private:
  class locked {
   public:
    explicit locked(cancellation_core& core) noexcept : core_(core) { core_.lock(); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() { core_.unlock(); }

   private:
    cancellation_core& core_;
  };

  void remove() noexcept;
  void dispose(cancellation_node*) noexcept;

  word_mutex mutex_;
  // The owner's thread key, or null. Written by the owner only; relaxed suffices, since a thread
  // can read its own key here only if it wrote it itself.
  std::atomic<const void*> owner_{nullptr};
  unsigned depth_ = 0;  // how often the owner has locked again
  cancellation_node* handler_ = nullptr;
  bool armed_ = false;
  cancellation_type kept_ = cancellation_type::none;
};

}  // namespace detail

/// Requests the cancellation of one operation (or of one chain of operations, one at a time):
/// give its slot to the operation with `bind_cancellation_slot`, and call `emit`.
///
///     cancellation_signal signal;
///     timer.async_wait(bind_cancellation_slot(signal.slot(), handler));
///     signal.emit(cancellation_type::total);
///
/// `emit` may be called from any thread, also while the operation starts or completes on another
/// one. Neither copyable nor movable; it must outlive the operations that were given its slot.
class cancellation_signal {
 public:
  cancellation_signal() = default;
  cancellation_signal(const cancellation_signal&) = delete;
  cancellation_signal& operator=(const cancellation_signal&) = delete;

  /// Calls the handler in the slot, if there is one, on this thread; returns when it has returned.
  /// An operation that completed before is not disturbed, one that starts later hears nothing.
  /// Waits for an installing, clearing or emitting thread. Throws what the handler throws.
  void emit(cancellation_type type) { core_.emit(type); }

  /// The signal's only slot. It is valid while the signal lives.
  cancellation_slot slot() noexcept;

 private:
  friend class detail::cancellation_link;

  detail::cancellation_core core_;
};

/// The place for one cancellation handler, `void(cancellation_type)`, in a signal. A light copyable
/// handle; the default-constructed one is connected to nothing, and only `clear` may be called on
/// it. All members may be called from any thread (the protocol is at detail::cancellation_core).
class cancellation_slot {
 public:
  constexpr cancellation_slot() noexcept = default;

  /// Destroys the handler in the slot, and makes a `Handler(args...)` there, which need be neither
  /// copyable nor movable. Its memory is recycled. Throws std::bad_alloc or what the constructor
  /// throws; the slot is empty then. Requires `is_connected()`.
  template <class Handler, class... Args>
  Handler& emplace(Args&&... args) {
    return core_->template emplace<Handler>(std::forward<Args>(args)...);
  }

  /// As `emplace`, with a copy of `handler`.
  template <class Handler>
  std::decay_t<Handler>& assign(Handler&& handler) {
    return emplace<std::decay_t<Handler>>(std::forward<Handler>(handler));
  }

  /// Destroys the handler in the slot, if any. When it returns, no other thread is inside it.
  void clear() noexcept {
    if (core_)
      core_->clear();
  }

  constexpr bool is_connected() const noexcept { return core_ != nullptr; }
  bool has_handler() const noexcept { return core_ && core_->has_handler(); }

  friend constexpr bool operator==(const cancellation_slot&,
                                   const cancellation_slot&) noexcept = default;

 private:
  friend class cancellation_signal;
  template <class>
  friend class detail::slot_lock;

  constexpr explicit cancellation_slot(detail::cancellation_core* core) noexcept : core_(core) {}

  detail::cancellation_core* core_ = nullptr;
};

inline cancellation_slot cancellation_signal::slot() noexcept {
  return cancellation_slot(&core_);
}

namespace detail {

/// Held around the installing of a handler and the submission of its operation, it keeps emissions
/// and the completion's `clear` out until both are done. Nothing for a user's own slot type.
template <class Slot>
class slot_lock {
 public:
  explicit slot_lock(const Slot&) noexcept {}
};

template <>
class slot_lock<cancellation_slot> {
 public:
  explicit slot_lock(const cancellation_slot& slot) noexcept : core_(slot.core_) {
    if (core_)
      core_->lock();
  }
  slot_lock(const slot_lock&) = delete;
  slot_lock& operator=(const slot_lock&) = delete;
  ~slot_lock() {
    if (core_)
      core_->unlock();
  }

 private:
  cancellation_core* core_;
};

}  // namespace detail

}  // namespace WEFT_NAMESPACE
