// SPDX-License-Identifier: BSL-1.0
// Lesson 19: a program with a loop of its own, a game say, runs handlers once in each frame, and
// for as long as the frame can spare.
#include <cstdio>
#include <functional>
#include <weft.hpp>

int main() {
  weft::io_context context;
  const auto guard = weft::make_work_guard(context);  // a frame without work is not the end
  weft::local::stream_protocol::socket player(context), server(context);
  weft::local::connect_pair(player, server);
  char key = 0;
  bool over = false;
  player.async_read_some(weft::buffer(&key, 1), [&](weft::error_code, std::size_t) {
    std::printf("received %c\n", key);
    over = true;
  });
  // Handlers without end, which poll() would run for ever.
  std::function<void()> think = [&] { weft::post(context, think); };
  weft::post(context, think);

  int frame = 0;
  while (!over) {
    if (++frame == 3)
      weft::write(server, weft::buffer("x", 1));
    context.poll_for(std::chrono::milliseconds(1));
    // ... the world moves on, and the picture is drawn ...
  }
}
