// SPDX-License-Identifier: BSL-1.0
// Lesson 33: a channel between coroutines. It has room for two values, so the producer waits for
// the consumer; closed, it ends the consumer's loop when all has been received.
#include <cstdio>
#include <string>
#include <weft.hpp>

using weft::awaitable;
using weft::channel;

awaitable<void> produce(channel<std::string>& words) {
  for (const char* word : {"warp", "weft", "shed", "pick", "beat"}) {
    co_await words.async_send(word);
    std::printf("sent %s\n", word);
  }
  words.close();
}

awaitable<void> consume(channel<std::string>& words) {
  while (const auto word = co_await words.async_next())
    std::printf("     got %s\n", word->c_str());
  std::puts("end");
}

int main() {
  weft::io_context context;
  channel<std::string> words(context, 2);
  co_spawn(context, produce(words), weft::detached);
  co_spawn(context, consume(words), weft::detached);
  context.run();
}
