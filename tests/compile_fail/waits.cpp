// SPDX-License-Identifier: BSL-1.0
// Tokens, locks and values fit what they wait for; what has one owner is not copied.
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include <weft/context/io_context.hpp>
#include <weft/io/write_queue.hpp>
#include <weft/net/tcp.hpp>
#include <weft/sync/async_barrier.hpp>
#include <weft/sync/async_condition.hpp>
#include <weft/sync/async_mutex.hpp>
#include <weft/sync/future.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/watch.hpp>
#include <weft/sync/when_all.hpp>

using weft::async_mutex;
using weft::error_code;

struct no_default {
  explicit no_default(int) {}
};

int main() {
  weft::io_context context;
  async_mutex mutex(context);
  weft::async_condition condition(context);
  weft::async_barrier barrier(context, 1);
  weft::promise<int> promise;
  weft::future<int> future = promise.get_future();
  weft::future<no_default> cannot_be_default;
  auto ends = weft::make_oneshot<int>(context.get_executor());
  weft::watch<int> watched(context, 1);
  weft::ip::tcp::socket socket(context);
  weft::write_queue out(socket);
  std::mutex blocking;
  weft::basic_async_mutex<weft::sharing::local> local(context);

  mutex.async_lock([](error_code) {});
  mutex.async_scoped_lock([&](error_code, async_mutex::scoped_lock lock) {
    condition.async_wait(lock, [](error_code) {});
  });
  condition.async_wait(mutex, [](error_code) {});
  barrier.async_wait(barrier.arrive(), [](error_code) {});
  cannot_be_default.async_wait([](error_code) {});
  future.attach_callback([](weft::future<int>) {});
  out.async_write(std::string("text"), [](error_code, std::size_t) {});
  weft::when_all(mutex.async_lock(), barrier.async_arrive_and_wait())([](auto) {});

#if WEFT_BAD == 1
  // bad 1: no matching (member )?function for call to .{0,200}async_lock
  mutex.async_lock([](int) {});
#elif WEFT_BAD == 2
  // bad 2: no matching (member )?function for call to .{0,200}async_scoped_lock
  mutex.async_scoped_lock([](error_code) {});
#elif WEFT_BAD == 3
  // bad 3: a condition waits with a basic_async_mutex of the same policy
  condition.async_wait(blocking, [](error_code) {});
#elif WEFT_BAD == 4
  // bad 4: a condition waits with a basic_async_mutex of the same policy
  condition.async_wait(local, [](error_code) {});
#elif WEFT_BAD == 5
  // bad 5: deleted
  auto copy = mutex;
#elif WEFT_BAD == 6
  // bad 6: deleted
  async_mutex::scoped_lock lock;
  auto copy = lock;
#elif WEFT_BAD == 7
  // bad 7: no matching (member )?function for call to .{0,200}async_wait
  barrier.async_wait([](error_code) {});
#elif WEFT_BAD == 8
  // bad 8: deleted
  auto copy = promise;
#elif WEFT_BAD == 9
  // bad 9: deleted
  auto copy = future;
#elif WEFT_BAD == 10
  // bad 10: a handler of async_get gets a value made by default with an exception
  cannot_be_default.async_get([](std::exception_ptr, no_default) {});
#elif WEFT_BAD == 11
  // bad 11: no matching (member )?function for call to .{0,200}attach_callback
  future.attach_callback([](int) {});
#elif WEFT_BAD == 12
  // bad 12: deleted
  auto copy = ends.sender;
#elif WEFT_BAD == 13
  // bad 13: who looks at a watch gets a copy of the value
  weft::watch<std::unique_ptr<int>> unique(context, nullptr);
#elif WEFT_BAD == 14
  // bad 14: no matching function for call to .{0,4}when_all
  weft::when_all(7);
#elif WEFT_BAD == 15
  // bad 15: no matching (member )?function for call to .{0,200}async_write
  out.async_write(7, [](error_code, std::size_t) {});
#elif WEFT_BAD == 16
  // bad 16: no matching (member )?function for call to .{0,200}async_write
  out.async_write(std::string("text"), [](std::string) {});
#elif WEFT_BAD == 17
  // bad 17: deleted
  weft::write_queue<weft::ip::tcp::socket&> copy(out);
#endif
}
