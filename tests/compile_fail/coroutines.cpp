// SPDX-License-Identifier: BSL-1.0
// A coroutine is awaited once, and takes in co_await what it can serve.
#include <memory>
#include <utility>

#include <weft/async/bind_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/callable.hpp>
#include <weft/coro/co_composed.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/generator.hpp>
#include <weft/coro/resume_event.hpp>
#include <weft/coro/task.hpp>
#include <weft/sync/future.hpp>

using weft::awaitable;
using weft::task;

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(throws_when_moved&&) noexcept(false) {}
};
struct alignas(64) aligned {
  int value;
};

task<int> number() {
  co_return 1;
}
task<int> sum() {
  task<int> kept = number();
#if WEFT_BAD == 1
  // bad 1: deleted
  co_return co_await kept;
#elif WEFT_BAD == 2
  // bad 2: await_transform
  co_return co_await 7;
#else
  co_return co_await number() + co_await std::move(kept);
#endif
}

weft::generator<int> count() {
  co_yield 1;
#if WEFT_BAD == 3
  // bad 3: deleted
  co_await std::suspend_never();
#endif
}

awaitable<int> take(weft::future<int> f, weft::shared_future<int> shared) {
  const int read = co_await shared;
#if WEFT_BAD == 9
  // bad 9: write co_await std::move
  co_return read + co_await f;
#else
  co_return read + co_await std::move(f);
#endif
}

#if WEFT_BAD == 4
// bad 4: the frame of a coroutine is aligned as operator new aligns
task<aligned> make_aligned() {
  co_return aligned{1};
}
#endif

/// An operation that completes in one way or another.
constexpr auto either = [](auto&& token) {
  return weft::async_initiate<decltype(token), void(weft::error_code), void(int)>([](auto&&) {},
                                                                                  token);
};

awaitable<void, weft::io_context::executor_type> elsewhere() {
  co_return;
}

int main() {
  weft::io_context context;
  co_spawn(context, sum(), weft::detached);
  co_spawn(context, take({}, {}), weft::detached);
  weft::resume_event<std::unique_ptr<int>> event;
  event.resume(std::make_unique<int>(1));
  const auto handler = [] {};
  const auto composed = weft::co_composed<void()>([](auto) -> void { co_return; }, context);
  composed(handler);
#if WEFT_BAD == 5
  // bad 5: the value of a resume_event is moved while others may look at the event
  weft::resume_event<throws_when_moved> bad;
#elif WEFT_BAD == 6
  // bad 6: instead of captures
  int kept = 0;
  weft::co_composed<void()>([&kept](auto) -> void { co_return (void) kept; }, context)(handler);
#elif WEFT_BAD == 7
  // bad 7: deleted
  auto c = sum();
  co_spawn(context, c, weft::detached);
#elif WEFT_BAD == 8
  // bad 8: deleted
  auto g = count();
  auto copy = g;
#elif WEFT_BAD == 10
  // bad 10: co_await takes operations with one completion signature
  co_spawn(context, []() -> task<> { co_await either(weft::deferred); }, weft::detached);
#elif WEFT_BAD == 11
  // bad 11: a coroutine of co_composed awaits asynchronous operations
  weft::co_composed<void()>([](auto) -> void { co_await 7; }, context)(handler);
#elif WEFT_BAD == 12
  // bad 12: await_transform
  co_spawn(context, []() -> awaitable<void> { co_await elsewhere(); }, weft::detached);
#endif
}
