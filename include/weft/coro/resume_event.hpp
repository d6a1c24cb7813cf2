// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/sharing_policy.hpp>
#include <weft/coro/resume_state.hpp>

namespace WEFT_NAMESPACE {

/// How the program hears that a coroutine is about to wait for a resume_event, and that it is about
/// to go on: not at all.
class no_notification {
 protected:
  static void will_wait() noexcept {}
  static void will_resume() noexcept {}
};

/// By two plain functions, with a pointer of the program's own.
class plain_notification {
 public:
  using function = void (*)(void* data);

  /// Before a coroutine waits; it may resume the event already. What it throws, co_await throws.
  void on_wait(function f, void* data) noexcept { wait_ = {f, data}; }
  /// Before a waiting coroutine is resumed. It throws nothing.
  void on_resume(function f, void* data) noexcept { resume_ = {f, data}; }

 protected:
  void will_wait() const { wait_(); }
  void will_resume() const noexcept { resume_(); }

 private:
  struct call {
    function f = nullptr;
    void* data = nullptr;
    void operator()() const {
      if (f)
        f(data);
    }
  };
  call wait_;
  call resume_;
};

/// By two function objects, which the event keeps: of a type that is made empty, and tells whether
/// it is, as std::function<void()> does.
template <class Function>
class full_notification {
 public:
  /// See plain_notification.
  void on_wait(Function f) { wait_ = std::move(f); }
  void on_resume(Function f) { resume_ = std::move(f); }

 protected:
  void will_wait() {
    if (wait_)
      wait_();
  }
  void will_resume() noexcept {
    if (resume_)
      resume_();
  }

 private:
  Function wait_{};
  Function resume_{};
};

/// Something that one coroutine waits for, again and again, and that the program ends each time
/// from outside, with a value.
///
///     resume_event<int> answer;
///     task<void> ask() { use(co_await answer); }
///     ... answer.resume(42);     // use(42) runs in here
///
/// `resume(value)` resumes the coroutine on the calling thread, and returns when that waits again
/// or has ended. If no coroutine waits, the value is kept, and the next co_await does not suspend;
/// one is kept at a time, and what comes then is refused: `resume` says so. No value that it has
/// accepted is lost, and none is given twice.
///
/// Any coroutine may wait, one at a time. One that waits is not cancelled, and may be destroyed
/// while nobody resumes it. The event outlives the wait. `Sharing` is sharing::concurrent, where
/// any threads may resume, or sharing::local. `Notification` is one of the three above, or a class
/// with their protected functions. The value lies in the event, and is moved without throwing.
///
/// Nothing is allocated; each step is O(1): of a concurrent event, one atomic read-modify-write to
/// wait and one to resume.
template <class T = void, class Sharing = sharing::concurrent, class Notification = no_notification>
class resume_event : public Notification {
  struct nothing {};
  using value = std::conditional_t<std::is_void_v<T>, nothing, T>;
  static_assert(std::is_object_v<value> && std::is_nothrow_move_constructible_v<value>,
                "the value of a resume_event is moved while others may look at the event");
  using state = typename detail::resume_state_of<Sharing>::type;

 public:
  using value_type = T;

  resume_event() noexcept(noexcept(Notification())) {}
  resume_event(const resume_event&) = delete;
  resume_event& operator=(const resume_event&) = delete;
  ~resume_event() {
    assert(!state_.is_awaited() &&
           "a resume_event is destroyed that a coroutine waits for: destroy the coroutine first");
    if (state_.has_value())
      std::destroy_at(std::addressof(value_));
  }

  /// Whether a value is there that no coroutine has taken.
  bool has_value() const noexcept { return state_.has_value(); }

  /// Resumes the coroutine that waits, or keeps the value for the next. False if one is kept
  /// already; nothing has happened then. Throws what leaves the coroutine, if its type lets it.
  bool resume()
    requires std::is_void_v<T>
  {
    return put(nothing());
  }
  template <std::convertible_to<value> V = value>
  bool resume(V&& v)
    requires(!std::is_void_v<T>)
  {
    if constexpr (std::is_nothrow_convertible_v<V, value>)
      return put(std::forward<V>(v));
    else
      return put(value(std::forward<V>(v)));
  }

  auto operator co_await() noexcept { return awaiter(*this); }

 private:
  class awaiter {
   public:
    explicit awaiter(resume_event& event) noexcept : event_(&event) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() {
      if (waiting_)
        event_->state_.withdraw(waiting_.address());
    }

    bool await_ready() const noexcept { return event_->state_.has_value(); }
    bool await_suspend(std::coroutine_handle<> h) {
      event_->will_wait();
      waiting_ = h;  // before it is seen: the coroutine may go on at once, elsewhere
      return event_->state_.wait(h.address());
    }
    T await_resume() noexcept {
      assert(event_->has_value() && "what waits for a resume_event is resumed by that alone");
      waiting_ = nullptr;
      return event_->take();
    }

   private:
    resume_event* event_;
    std::coroutine_handle<> waiting_;
  };

  template <class V>
  bool put(V&& v) {
    const std::uintptr_t seen = state_.begin_put();
    if (seen == detail::concurrent_resume_state<>::full)
      return false;
    std::construct_at(std::addressof(value_), std::forward<V>(v));
    const std::uintptr_t waiting = seen ? seen : state_.end_put();
    if (waiting) {
      this->will_resume();
      std::coroutine_handle<>::from_address(reinterpret_cast<void*>(waiting)).resume();
    }
    return true;
  }

  T take() noexcept {
    if constexpr (std::is_void_v<T>) {
      state_.take();
    } else {
      T taken(std::move(value_));
      std::destroy_at(std::addressof(value_));
      state_.take();
      return taken;
    }
  }

  state state_;
  union {
    value value_;
  };
};

}  // namespace WEFT_NAMESPACE
