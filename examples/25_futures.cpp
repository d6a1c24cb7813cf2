// SPDX-License-Identifier: BSL-1.0
// Lesson 25: futures. `async` has a loop call a function; a callback gets the result when it is
// there, and get() inside it returns the value or throws. Nothing blocks the loop.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <weft.hpp>

int divide(int a, int b) {
  if (b == 0)
    throw std::domain_error("division by zero");
  return a / b;
}

void show(weft::future<int> result) {
  try {
    std::printf("result: %d\n", result.get());
  } catch (const std::exception& e) {
    std::printf("no result: %s\n", e.what());
  }
}

int main() {
  weft::io_context context;

  weft::async(context, divide, 84, 2).attach_callback(show);
  weft::async(context, divide, 1, 0).attach_callback(show);

  // `then` makes a future of what its function makes of the result.
  weft::async(context, divide, 10, 5)
      .then([](weft::future<int> half) { return std::string(half.get(), '*'); })
      .attach_callback(
          [](weft::future<std::string> stars) { std::printf("stars: %s\n", stars.get().c_str()); });

  // A promise is fulfilled by hand; any operation gives a future.
  weft::promise<int> answer(context);
  answer.get_future().attach_callback(show);
  weft::steady_timer timer(context, std::chrono::milliseconds(1));
  timer.async_wait(weft::as_future).attach_callback([&](weft::future<void> expired) {
    expired.get();
    answer.set_value(7);
  });

  // A thread of the loop that is to produce a result must not wait for it: that is noticed.
  weft::post(context, [&] {
    try {
      weft::async(context, divide, 2, 1).get();
    } catch (const weft::system_error& e) {
      std::printf("get: %s\n",
                  e.code() == weft::error::would_deadlock ? "would deadlock" : e.what());
    }
  });
  context.run();
}
