// SPDX-License-Identifier: BSL-1.0
#include <unistd.h>

#include <functional>
#include <future>
#include <list>
#include <memory>
#include <thread>

#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/child.hpp"
#include "support/temporary_directory.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

/// Connecting to a UNIX-domain acceptor whose queue is full.
class unix_connect : public socket_test {
 protected:
  unix_connect() : acceptor(context) {
    acceptor.open();
    acceptor.bind(endpoint);
    acceptor.listen(0);
    filler.connect(endpoint);
  }

  temporary_directory folder;
  const unix_stream::endpoint endpoint{folder / "socket"};
  unix_stream::acceptor acceptor;
  unix_stream::socket filler{context};
};

TEST_P(unix_connect, waits_until_the_full_queue_has_room) {
  unix_stream::socket s(context);
  status connected;
  s.async_connect(endpoint, connected.handler());
  for (int i = 0; i != 10; ++i) {
    context.restart();
    context.poll();
  }
  ASSERT_EQ(connected.calls, 0);
  acceptor.accept();
  run();
  EXPECT_FALSE(connected.ec());
  unix_stream::socket peer = acceptor.accept();
  s.write_some(buffer("x", 1));
  char c = 0;
  EXPECT_EQ(peer.read_some(buffer(&c, 1)), 1u);
}

TEST_P(unix_connect, a_sleeping_context_notices_the_room) {
  unix_stream::socket s(context);
  status connected;
  auto work = weft::make_work_guard(context);
  std::thread runner([this] { context.run(); });
  std::promise<void> started, done;
  weft::post(context, [&] {
    s.async_connect(endpoint, [&, note = connected.handler()](error_code ec) mutable {
      note(ec);
      done.set_value();
    });
    started.set_value();
  });
  started.get_future().wait();
  acceptor.accept();
  done.get_future().wait();
  work.reset();
  runner.join();
  EXPECT_FALSE(connected.ec());
}

TEST_P(unix_connect, waits_when_it_is_submitted_with_much_else) {
  constexpr int count = 32;  // more answers in one poll than make a batch
  std::list<unix_stream::socket> receivers, senders;
  char bytes[count];
  int received = 0;
  unix_stream::socket s(context);
  status connected;
  for (char& c : bytes) {
    receivers.emplace_back(context);
    senders.emplace_back(context);
    weft::local::connect_pair(receivers.back(), senders.back());
    receivers.back().async_read_some(buffer(&c, 1), [&](error_code, std::size_t) {
      if (received++ == 0)
        s.async_connect(endpoint, connected.handler());
    });
  }
  context.poll();
  for (unix_stream::socket& sender : senders)
    sender.write_some(buffer("x", 1));
  // The kernel's first answer, that the queue is full, is to come before there is room.
  for (int i = 0; i != 10'000; ++i) {
    context.restart();
    context.poll();
    std::this_thread::yield();
  }
  EXPECT_EQ(received, count);
  ASSERT_EQ(connected.calls, 0);
  acceptor.accept();
  run();
  EXPECT_FALSE(connected.ec());
}

TEST_P(unix_connect, all_that_wait_get_their_turn) {
  constexpr int count = 5;
  std::list<unix_stream::socket> sockets;
  status connected[count];
  for (status& s : connected)
    sockets.emplace_back(context).async_connect(endpoint, s.handler());
  std::list<unix_stream::socket> accepted;
  const std::function<void()> accept = [&] {
    acceptor.async_accept([&](error_code ec, unix_stream::socket peer) {
      ASSERT_FALSE(ec);
      accepted.push_back(std::move(peer));
      if (accepted.size() != count + 1)
        accept();
    });
  };
  accept();
  run();
  for (const status& s : connected)
    EXPECT_FALSE(s.ec());
  EXPECT_EQ(accepted.size(), count + 1u);
}

TEST_P(unix_connect, cancel_while_the_queue_is_full_reports_operation_aborted) {
  unix_stream::socket s(context);
  status first, second;
  s.async_connect(endpoint, first.handler());
  context.poll();
  ASSERT_EQ(first.calls, 0);
  s.cancel();
  run();
  EXPECT_EQ(first.ec(), weft::error::operation_aborted);
  s.async_connect(endpoint, second.handler());
  acceptor.accept();
  run();
  EXPECT_FALSE(second.ec());
}

TEST_P(unix_connect, an_acceptor_that_goes_refuses_those_that_wait) {
  unix_stream::socket s(context);
  status connected;
  s.async_connect(endpoint, connected.handler());
  context.poll();
  ASSERT_EQ(connected.calls, 0);
  acceptor.close();
  run();
  EXPECT_EQ(connected.ec(), weft::error::connection_refused);
}

TEST_P(unix_connect, close_and_destruction_end_the_waiting) {
  status closed;
  {
    unix_stream::socket s(context);
    s.async_connect(endpoint, closed.handler());
    context.poll();
    s.close();
    run();
    EXPECT_EQ(closed.ec(), weft::error::operation_aborted);
  }
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> watch = kept;
  {
    weft::io_context other{make_context_options(GetParam())};
    auto s = std::make_shared<unix_stream::socket>(other);
    s->async_connect(endpoint, [s, kept = std::move(kept)](error_code) { FAIL(); });
    other.poll();
  }
  EXPECT_TRUE(watch.expired());
}

TEST_P(unix_connect, goes_on_waiting_in_the_child_of_a_fork) {
  unix_stream::socket s(context);
  status connected;
  s.async_connect(endpoint, connected.handler());
  context.poll();
  ASSERT_EQ(connected.calls, 0);
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        acceptor.accept();
        context.restart();
        context.run();
        return connected.calls == 1 && !connected.ec();
      },
      context));
}

TEST_P(unix_connect, a_non_blocking_synchronous_connect_reports_would_block) {
  unix_stream::socket s(context);
  s.open();
  s.non_blocking(true);
  error_code ec;
  s.connect(endpoint, ec);
  EXPECT_EQ(ec, weft::error::would_block);
}

WEFT_INSTANTIATE_BACKENDS(unix_connect);

}  // namespace
