// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include <weft/base/type_name.hpp>
#include <weft/coro/logical_thread.hpp>

namespace WEFT_NAMESPACE::detail {

/// What the language asks when `awaitable` is awaited where a promise has no say.
template <class Awaitable>
constexpr decltype(auto) awaiter_of(Awaitable&& awaitable) {
  if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); })
    return std::forward<Awaitable>(awaitable).operator co_await();
  else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); })
    return operator co_await(std::forward<Awaitable>(awaitable));
  else
    return static_cast<Awaitable&&>(awaitable);
}

/// Has a coroutine of a logical thread wait for what is awaitable by itself, and records that. The
/// awaitable must outlive it, as the operand of a co_await does.
template <class Awaitable>
class foreign_awaiter {
 public:
  foreign_awaiter(Awaitable&& awaitable, logical_thread_base& thread)
      : awaiter_(awaiter_of(std::forward<Awaitable>(awaitable))), thread_(thread) {}
  foreign_awaiter(const foreign_awaiter&) = delete;
  foreign_awaiter& operator=(const foreign_awaiter&) = delete;
  ~foreign_awaiter() { end_wait(); }

  bool await_ready() { return static_cast<bool>(awaiter_.await_ready()); }

  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> h) {
    is_waiting_ = true;
    thread_.waits(type_text<std::remove_cvref_t<Awaitable>>());
    return awaiter_.await_suspend(h);
  }

  decltype(auto) await_resume() {
    end_wait();
    return awaiter_.await_resume();
  }

 private:
  void end_wait() noexcept {
    if (std::exchange(is_waiting_, false))
      thread_.goes_on();
  }

  decltype(awaiter_of(std::declval<Awaitable>())) awaiter_;
  logical_thread_base& thread_;
  bool is_waiting_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
