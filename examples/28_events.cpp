// SPDX-License-Identifier: BSL-1.0
// Lesson 28: events. A resume_event is what a coroutine waits for and ordinary code ends, each time
// with a value. A callable needs no context for that: it is started, and resumed, by its caller.
#include <cstdio>
#include <string>
#include <weft.hpp>
#include <weft/coroutines.hpp>

using replies = weft::resume_event<std::string, weft::sharing::local, weft::plain_notification>;

// What a program with a loop of its own would do: send a request, and hear of the reply later.
void send_request(void* count) {
  std::printf("request %d\n", ++*static_cast<int*>(count));
}

weft::task<std::string> ask(replies& reply) {
  co_return "<" + co_await reply + ">";
}

weft::callable<int> session(replies& reply) {
  int length = 0;
  for (int i = 0; i != 2; ++i) {
    const std::string text = co_await ask(reply);
    std::printf("reply %s\n", text.c_str());
    length += static_cast<int>(text.size());
  }
  co_return length;
}

int main() {
  int requests = 0;
  replies reply;
  reply.on_wait(send_request, &requests);

  weft::callable<int> player = session(reply);
  player.start();
  reply.resume("hello");
  reply.resume("goodbye");
  if (player.done())
    std::printf("%d characters\n", player.get());
}
