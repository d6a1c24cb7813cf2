// SPDX-License-Identifier: BSL-1.0
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/net/accept_stream.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using stream_of_tcp = weft::accept_stream<tcp::acceptor>;
using connection = outcome<error_code, tcp::socket>;

class accept_stream : public socket_test {
 protected:
  void poll() {
    context.restart();
    context.poll();
  }

  tcp::socket connected() {
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    return client;
  }

  tcp::acceptor acceptor{context, tcp::endpoint(weft::ip::address_v4::loopback(), 0)};
};

tcp::endpoint peer_of(const connection& c) {
  return std::get<1>(*c.results).remote_endpoint();
}

/// Whether the other side has closed the connection.
bool is_closed_by_peer(tcp::socket& client) {
  char c = 0;
  error_code ec;
  client.read_some(buffer(&c, 1), ec);
  return ec == weft::error::eof || ec == weft::error::connection_reset;
}

TEST_P(accept_stream, gives_connections_in_order) {
  stream_of_tcp stream(acceptor, 3);
  std::vector<tcp::socket> clients;
  connection first;
  stream.async_accept(first.handler());
  EXPECT_EQ(first.calls, 0);
  for (int i = 0; i != 20; ++i)
    clients.push_back(connected());
  EXPECT_EQ(first.calls, 0);
  run();
  ASSERT_FALSE(first.ec());
  EXPECT_EQ(peer_of(first), clients[0].local_endpoint());
  for (int i = 1; i != 20; ++i) {
    connection next;
    stream.async_accept(next.handler());
    run();
    ASSERT_FALSE(next.ec());
    EXPECT_EQ(peer_of(next), clients[i].local_endpoint());
  }
}

TEST_P(accept_stream, serves_waiting_accepts_in_the_order_they_were_started) {
  stream_of_tcp stream(acceptor);
  connection c[4];
  for (connection& one : c)
    stream.async_accept(one.handler());
  for (connection& one : c) {
    tcp::socket client = connected();
    run_until_done(one);
    ASSERT_FALSE(one.ec());
    EXPECT_EQ(peer_of(one), client.local_endpoint());
    one.results.reset();
  }
}

TEST_P(accept_stream, sockets_it_gives_work) {
  stream_of_tcp stream(acceptor);
  connection c;
  stream.async_accept(c.handler());
  tcp::socket client = connected();
  run();
  tcp::socket peer = std::move(std::get<1>(*c.results));
  client.write_some(buffer("x", 1));
  transfer read;
  char byte = 0;
  peer.async_read_some(buffer(&byte, 1), read.handler());
  run();
  EXPECT_EQ(read.bytes(), 1u);
}

TEST_P(accept_stream, holds_no_more_than_it_may) {
  stream_of_tcp stream(acceptor, 2);
  connection first, cancelled;
  std::vector<tcp::socket> clients;
  stream.async_accept(first.handler());
  clients.push_back(connected());
  run();
  {
    const auto work = weft::make_work_guard(context);
    for (int i = 0; i != 10; ++i) {
      clients.push_back(connected());
      poll();
    }
  }
  stream.stop();
  int held = 0;
  for (bool ended = false; !ended; ++held) {
    connection c;
    stream.async_accept(c.handler());
    run();
    ended = c.ec() == weft::error::operation_aborted;
    EXPECT_TRUE(ended || peer_of(c) == clients[1 + held].local_endpoint());
  }
  --held;
  EXPECT_LE(held, 4);
  for (int i = 1 + held; i != 11; ++i)
    EXPECT_EQ(acceptor.accept().remote_endpoint(), clients[i].local_endpoint());
}

TEST_P(accept_stream, connections_held_are_closed_with_it) {
  std::vector<tcp::socket> clients;
  {
    stream_of_tcp stream(acceptor, 8);
    connection first;
    stream.async_accept(first.handler());
    for (int i = 0; i != 3; ++i)
      clients.push_back(connected());
    run();
    poll();
  }
  acceptor.close();
  for (tcp::socket& client : clients)
    EXPECT_TRUE(is_closed_by_peer(client));
}

TEST_P(accept_stream, takes_nothing_after_the_acceptor_is_closed) {
  for (int i = 0; i != 20; ++i) {
    tcp::acceptor own(context, loopback());
    const tcp::endpoint address = own.local_endpoint();
    stream_of_tcp stream(own);
    connection waiting, after;
    stream.async_accept(waiting.handler());
    poll();
    std::thread closer([&] { own.close(); });
    closer.join();
    tcp::socket client(context);
    error_code ec;
    client.connect(address, ec);
    EXPECT_EQ(ec, weft::error::connection_refused);
    stream.async_accept(after.handler());
    run();
    EXPECT_EQ(waiting.ec(), weft::error::operation_aborted);
    EXPECT_EQ(after.ec(), weft::error::bad_descriptor);
  }
}

TEST_P(accept_stream, stopping_ends_waiting_accepts) {
  stream_of_tcp stream(acceptor);
  connection waiting;
  stream.async_accept(waiting.handler());
  poll();
  stream.stop();
  tcp::socket client = connected();
  run();
  EXPECT_EQ(waiting.ec(), weft::error::operation_aborted);
  EXPECT_EQ(acceptor.accept().remote_endpoint(), client.local_endpoint());
}

TEST_P(accept_stream, cancelling_loses_no_connection) {
  stream_of_tcp stream(acceptor);
  for (int i = 0; i != 10; ++i) {
    weft::cancellation_signal signal;
    connection by_slot, by_stream, by_acceptor, last;
    stream.async_accept(weft::bind_cancellation_slot(signal.slot(), by_slot.handler()));
    stream.async_accept(by_stream.handler());
    poll();
    signal.emit(weft::cancellation_type::terminal);
    stream.cancel();
    tcp::socket client = connected();
    stream.async_accept(by_acceptor.handler());
    acceptor.cancel();
    stream.async_accept(last.handler());
    run();
    EXPECT_EQ(by_slot.ec(), weft::error::operation_aborted);
    EXPECT_EQ(by_stream.ec(), weft::error::operation_aborted);
    connection& got = by_acceptor.ec() ? last : by_acceptor;
    ASSERT_FALSE(got.ec());
    EXPECT_EQ(peer_of(got), client.local_endpoint());
    if (&got == &by_acceptor) {
      stream.cancel();
      run();
    }
  }
}

/// No more descriptors for this process, until it ends or is lifted.
class descriptor_limit {
 public:
  descriptor_limit() {
    ::getrlimit(RLIMIT_NOFILE, &saved_);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    rlimit limit = saved_;
    limit.rlim_cur = static_cast<rlim_t>(lowest_free);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &saved_); }

 private:
  rlimit saved_;
};

TEST_P(accept_stream, descriptor_limit_is_reported_and_the_connection_is_kept) {
  stream_of_tcp stream(acceptor);
  tcp::socket client = connected();
  connection failed, accepted;
  run();  // before the limit: what it needs to check pointers, a sanitizer opens at first use
  {
    descriptor_limit limit;
    stream.async_accept(failed.handler());
    run();
  }
  EXPECT_EQ(failed.ec(), weft::error::no_descriptors);
  stream.async_accept(accepted.handler());
  run();
  ASSERT_FALSE(accepted.ec());
  EXPECT_EQ(peer_of(accepted), client.local_endpoint());
}

TEST_P(accept_stream, loop_of_accepts_does_not_spin_at_the_descriptor_limit) {
  stream_of_tcp stream(acceptor);
  tcp::socket client = connected();
  int failures = 0;
  std::function<void()> loop = [&] {
    stream.async_accept([&](error_code ec, tcp::socket) {
      if (ec == weft::error::operation_aborted)
        return;
      failures += ec == weft::error::no_descriptors;
      loop();
    });
  };
  {
    descriptor_limit limit;
    loop();
    context.run_one();
    context.run_for(std::chrono::milliseconds(35));
  }
  EXPECT_GE(failures, 1);
  EXPECT_LE(failures, 5);
  stream.stop();
  run();
}

TEST_P(accept_stream, context_is_destroyed_while_streams_run) {
  int calls = 0;
  tcp::socket held(context), waiting(context);
  {
    weft::io_context other(make_context_options(GetParam()));
    auto own = std::make_shared<tcp::acceptor>(other, loopback());
    auto stream = std::make_shared<stream_of_tcp>(*own);
    stream->async_accept([&calls, own, stream](error_code, tcp::socket) { ++calls; });
    held.connect(own->local_endpoint());
    waiting.connect(own->local_endpoint());
    other.run_one();
    stream->async_accept([&calls, own, stream](error_code, tcp::socket) { ++calls; });
    stream->async_accept([&calls, own, stream](error_code, tcp::socket) { ++calls; });
    stream.reset();
    own.reset();
  }
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(is_closed_by_peer(held));
  EXPECT_TRUE(is_closed_by_peer(waiting));
}

TEST_P(accept_stream, goes_on_when_the_thread_that_started_it_exits) {
  stream_of_tcp stream(acceptor);
  connection c;
  std::thread([&] {
    stream.async_accept(c.handler());
    context.poll();
  }).join();
  tcp::socket client = connected();
  run();
  EXPECT_FALSE(c.ec());
}

TEST_P(accept_stream, gives_each_connection_once_on_two_threads) {
  constexpr int count = 200;
  stream_of_tcp stream(acceptor, 4);
  std::atomic<int> accepted{0};
  std::function<void()> loop = [&] {
    stream.async_accept([&](error_code ec, tcp::socket peer) {
      if (ec)
        return;
      peer.write_some(buffer("x", 1));
      if (accepted.fetch_add(1) + 1 == count)
        stream.stop();
      else
        loop();
    });
  };
  for (int i = 0; i != 4; ++i)
    loop();
  std::thread one([&] { context.run(); }), two([&] { context.run(); });
  int served = 0;
  for (int i = 0; i != count; ++i) {
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    char c = 0;
    served += client.read_some(buffer(&c, 1)) == 1;
  }
  stream.stop();
  one.join();
  two.join();
  EXPECT_EQ(served, count);
  EXPECT_EQ(accepted.load(), count);
}

WEFT_INSTANTIATE_BACKENDS(accept_stream);

}  // namespace
