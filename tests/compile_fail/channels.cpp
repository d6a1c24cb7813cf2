// SPDX-License-Identifier: BSL-1.0
// What goes through a channel cannot be lost on its way: moving it does not throw. A select
// belongs to the channel of its first case.
// bad 1: movable without exceptions
// bad 2: the first case of async_select is one of a channel
// bad 3: no matching (member )?function for call to|constraint
// bad 4: an error transform makes a value of an error
// bad 5: every receiver of a broadcast gets a copy
// bad 6: no matching function for call to .{0,4}async_initiate
// bad 7: no matching function for call to .{0,4}on_send|(could not|cannot) convert
// bad 8: no matching (member )?function for call to .{0,200}async_send
// bad 9: deleted
#include <chrono>
#include <memory>
#include <optional>

#include <weft/context/io_context.hpp>
#include <weft/io/on_timeout.hpp>
#include <weft/sync/broadcast.hpp>
#include <weft/sync/select.hpp>

#ifndef WEFT_BAD
#define WEFT_BAD 0
#endif

struct throws {
  throws() = default;
  throws(throws&&) {}  // NOLINT(performance-noexcept-move-constructor)
};
struct no_default {
  explicit no_default(int) {}
};

int main() {
  weft::io_context context;
  weft::channel<int> numbers(context);
  weft::channel<no_default> others(context);
  weft::channel<std::unique_ptr<throws>> boxes(context);
  weft::async_select(weft::on_receive(numbers), weft::on_timeout(std::chrono::seconds(1)),
                     [](weft::error_code, auto) {});
  others.async_next([](std::optional<no_default>) {});

#if WEFT_BAD == 1
  weft::channel<throws> channel(context);
#elif WEFT_BAD == 2
  weft::async_select(weft::on_timeout(std::chrono::seconds(1)), weft::on_receive(numbers),
                     [](weft::error_code, auto) {});
#elif WEFT_BAD == 3
  others.async_receive([](weft::error_code, no_default) {});
#elif WEFT_BAD == 4
  struct transform {};
  weft::channel<int, weft::sharing::concurrent, transform> channel(context);
#elif WEFT_BAD == 5
  weft::broadcast<std::unique_ptr<int>> all(context, 1);
#elif WEFT_BAD == 6
  weft::async_select(weft::on_receive(numbers), [](weft::error_code) {});
#elif WEFT_BAD == 7
  weft::on_send(numbers, std::make_unique<int>(1));
#elif WEFT_BAD == 8
  numbers.async_send(1, [](int) {});
#elif WEFT_BAD == 9
  auto copy = numbers;
#endif
}
