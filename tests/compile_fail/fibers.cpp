// SPDX-License-Identifier: BSL-1.0
// A fiber is a function of its yield_context, which is its own; what it returns can be handed over.
#include <exception>
#include <memory>

#include <weft/async/async_initiate.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/blocking.hpp>
#include <weft/coro/fiber.hpp>
#include <weft/coro/spawn.hpp>

using weft::yield_context;

struct no_default {
  explicit no_default(int) {}
};

/// An operation that completes in one way or another.
constexpr auto either = [](auto&& token) {
  return weft::async_initiate<decltype(token), void(weft::error_code), void(int)>([](auto&&) {},
                                                                                  token);
};

int main() {
  weft::io_context context;
  const auto f = [](yield_context) { return 1; };
  weft::spawn(context, f, weft::detached);
  weft::spawn(context, std::allocator_arg, weft::stack_pool(), f, [](std::exception_ptr, int) {});
  weft::fiber handle(context, [](yield_context) {});
  weft::blocking(context, [] { return 1; }, [](std::exception_ptr, int) {});

#if WEFT_BAD == 1
  // bad 1: no matching function for call to .{0,4}spawn
  weft::spawn(context, [](int) {}, weft::detached);
#elif WEFT_BAD == 2
  // bad 2: no matching function for call to .{0,4}spawn
  weft::spawn(context, std::allocator_arg, 7, f, weft::detached);
#elif WEFT_BAD == 3
  // bad 3: what a fiber's function returns must be an object that can be made by default
  weft::spawn(context, [](yield_context) { return no_default(1); }, weft::detached);
#elif WEFT_BAD == 4
  // bad 4: no matching function for call to .{0,4}async_initiate
  weft::spawn(context, f, [](int) {});
#elif WEFT_BAD == 5
  // bad 5: no matching (function for call to|constructor for initialization of)
  weft::fiber bad(context, [](int) {});
#elif WEFT_BAD == 6
  // bad 6: deleted
  auto copy = handle;
#elif WEFT_BAD == 7
  // bad 7: no matching (function for call to|constructor for initialization of)
  yield_context of_nobody;
#elif WEFT_BAD == 8
  // bad 8: no matching function for call to
  weft::spawn(context, [](yield_context yield) { either(yield); }, weft::detached);
#elif WEFT_BAD == 9
  // bad 9: what a blocking call returns must be an object that can be made by default
  weft::blocking(context, [] { return no_default(1); }, weft::detached);
#elif WEFT_BAD == 10
  // bad 10: no matching function for call to .{0,4}blocking
  weft::blocking(context, [](int) {}, weft::detached);
#elif WEFT_BAD == 11
  // bad 11: no matching function for call to .{0,4}async_initiate
  weft::blocking(context, [] { return 1; }, [](int) {});
#endif
}
