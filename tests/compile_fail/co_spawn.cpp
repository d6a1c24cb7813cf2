// SPDX-License-Identifier: BSL-1.0
// co_spawn starts coroutines that run on its executor, for tokens that take what they return.
#include <exception>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/task.hpp>
#include <weft/execution/system_executor.hpp>

struct no_default {
  explicit no_default(int) {}
};

weft::awaitable<int> number() {
  co_return 1;
}
weft::awaitable<int, weft::system_executor> number_elsewhere() {
  co_return 1;
}
weft::task<no_default> made() {
  co_return no_default(1);
}

/// A slot that is none of weft's.
struct other_slot {
  bool is_connected() const noexcept { return false; }
  void clear() noexcept {}
};
struct with_other_slot {
  using cancellation_slot_type = other_slot;
  other_slot get_cancellation_slot() const noexcept { return {}; }
  void operator()(std::exception_ptr, int) const {}
};

int main() {
  weft::io_context context;
  co_spawn(context, number(), weft::detached);
  co_spawn(context, number, [](std::exception_ptr, int) {});
  co_spawn(weft::system_executor(), number_elsewhere(), weft::detached);

#if WEFT_BAD == 1
  // bad 1: no matching function for call to .{0,4}co_spawn
  co_spawn(context, 7, weft::detached);
#elif WEFT_BAD == 2
  // bad 2: no matching function for call to .{0,4}co_spawn
  co_spawn(context, number_elsewhere(), weft::detached);
#elif WEFT_BAD == 3
  // bad 3: no matching function for call to .{0,4}async_initiate
  co_spawn(context, number(), [](int) {});
#elif WEFT_BAD == 4
  // bad 4: what co_spawn's coroutine returns must be an object that can be made by default
  co_spawn(context, made(), weft::detached);
#elif WEFT_BAD == 5
  // bad 5: spawn and co_spawn take tokens with weft's own type of cancellation slot
  co_spawn(context, number(), with_other_slot());
#elif WEFT_BAD == 6
  // bad 6: deleted
  auto n = number();
  auto copy = n;
#endif
}
