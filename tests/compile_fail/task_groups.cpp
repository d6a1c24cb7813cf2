// SPDX-License-Identifier: BSL-1.0
// What groups and managers of tasks start are operations, and who waits for them takes what comes
// of it.
#include <exception>
#include <string>

#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/task_manager.hpp>
#include <weft/coro/with_task_group.hpp>
#include <weft/io/steady_timer.hpp>

using weft::awaitable;
using weft::task_group;

awaitable<std::string> text() {
  co_return "text";
}
awaitable<void> nothing() {
  co_return;
}

int main() {
  weft::io_context context;
  weft::steady_timer timer(context);
  task_group group(context);
  weft::task_manager tasks(context);
  group.spawn(text());
  group.add(timer.async_wait());
  timer.async_wait(group.token([](weft::error_code) {}));
  group.async_join([](std::exception_ptr) {});
  auto joined = weft::with_task_group([](task_group&) { return text(); });
  const auto started = tasks.start(text());
  const auto without_value = tasks.start(nothing());
  tasks.then(started, [](const std::string&) {});
  tasks.async_wait(started, [](weft::error_code, weft::task_state) {});

#if WEFT_BAD == 1
  // bad 1: no matching function for call to .{0,4}co_spawn
  group.spawn(7);
#elif WEFT_BAD == 2
  // bad 2: no matching (member )?function for call to .{0,40}add
  group.add(7);
#elif WEFT_BAD == 3
  // bad 3: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(group.token([](std::string) {}));
#elif WEFT_BAD == 4
  // bad 4: no matching (member )?function for call to .{0,40}async_join
  group.async_join([](int) {});
#elif WEFT_BAD == 5
  // bad 5: no matching function for call to .{0,4}with_task_group
  weft::with_task_group([](task_group&) { return 7; });
#elif WEFT_BAD == 6
  // bad 6: the body of a task_group returns void or a value
  weft::with_task_group([](task_group&) { return awaitable<int&>(); });
#elif WEFT_BAD == 7
  // bad 7: deleted
  auto copy = group;
#elif WEFT_BAD == 8
  // bad 8: no matching (member )?function for call to .{0,40}start
  tasks.start(7);
#elif WEFT_BAD == 9
  // bad 9: no match(ing function)? for call to
  tasks.then(started, [](int*) {});
#elif WEFT_BAD == 10
  // bad 10: no matching (member )?function for call to .{0,60}value|invalid reference to function
  without_value.value();
#elif WEFT_BAD == 11
  // bad 11: no matching (member )?function for call to .{0,40}async_wait
  tasks.async_wait(started, [](int) {});
#endif
}
