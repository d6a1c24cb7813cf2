// SPDX-License-Identifier: BSL-1.0
// Lesson 8: an operation of your own, made of others, for every kind of completion token.
#include <cstdio>
#include <weft.hpp>

/// Waits `times` times for `pause`. Completion signature: void(error_code, int waited).
template <class Token>
auto async_tick(weft::steady_timer& timer, int times, std::chrono::milliseconds pause,
                Token&& token) {
  return weft::async_compose<Token, void(weft::error_code, int)>(
      [&timer, times, pause, done = 0, started = false](auto& self,
                                                        weft::error_code ec = {}) mutable {
        if (started && !ec)
          ++done;
        started = true;
        if (ec || done == times)
          return self.complete(ec, done);
        timer.expires_after(pause);
        timer.async_wait(std::move(self));
      },
      token, timer);
}

int main() {
  weft::io_context context;
  weft::steady_timer timer(context);
  async_tick(timer, 3, std::chrono::milliseconds(1), [](weft::error_code ec, int waited) {
    std::printf("%d ticks, %s\n", waited, ec ? ec.message().c_str() : "no error");
  });
  context.run();
}
