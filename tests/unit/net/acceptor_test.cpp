// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/context/strand.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/net/generic_protocol.hpp>

#include "support/child.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

using acceptor = socket_test;

TEST_P(acceptor, accepts_into_a_socket_of_the_callers) {
  tcp::acceptor a(context, loopback());
  tcp::socket peer(context), client(context);
  tcp::endpoint from;
  status accepted, connected;
  a.async_accept(peer, from, accepted.handler());
  client.async_connect(a.local_endpoint(), connected.handler());
  EXPECT_EQ(accepted.calls + connected.calls, 0);
  run();
  EXPECT_FALSE(accepted.ec());
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(from, client.local_endpoint());
  EXPECT_EQ(peer.remote_endpoint(), from);
  client.write_some(buffer("x", 1));
  char c = 0;
  EXPECT_EQ(peer.read_some(buffer(&c, 1)), 1u);
}

TEST_P(acceptor, hands_an_adapted_handler_to_the_overload_that_it_fits) {
  tcp::acceptor a(context, loopback());
  tcp::socket peer(context), first(context), second(context);
  error_code into_peer = weft::error::fault, anew = weft::error::fault;
  tcp::endpoint from;
  a.async_accept(peer, weft::bind_executor(weft::make_strand(context),
                                           [&](error_code ec) { into_peer = ec; }));
  a.async_accept(weft::cancel_after(std::chrono::hours(1), [&](error_code ec, tcp::socket s) {
    anew = ec;
    if (!ec)
      from = s.remote_endpoint();
  }));
  first.connect(a.local_endpoint());
  second.connect(a.local_endpoint());
  run();
  EXPECT_FALSE(into_peer);
  EXPECT_FALSE(anew);
  EXPECT_EQ(peer.remote_endpoint(), first.local_endpoint());
  EXPECT_EQ(from, second.local_endpoint());
}

TEST_P(acceptor, makes_new_sockets) {
  tcp::acceptor a(context, loopback());
  tcp::socket client(context);
  outcome<error_code, tcp::socket> accepted;
  a.async_accept(accepted.handler());
  client.connect(a.local_endpoint());
  run();
  ASSERT_FALSE(accepted.ec());
  EXPECT_EQ(std::get<1>(*accepted.results).remote_endpoint(), client.local_endpoint());
}

// In blocking mode the child's accept would wait inside the initiating function.
TEST_P(acceptor, released_by_the_parent_of_a_fork_goes_on_in_the_child) {
  tcp::acceptor a(context, loopback());
  status before;
  a.async_accept([&](error_code ec, tcp::socket) { before.handler()(ec); });
  context.poll();
  a.cancel();
  run();
  ASSERT_EQ(before.ec(), weft::error::operation_aborted);
  int released[2];
  ASSERT_EQ(::pipe2(released, O_CLOEXEC), 0);
  const pid_t child = weft_test::start_told_child(
      [&] {
        char byte;
        if (::read(released[0], &byte, 1) != 1)
          return false;
        tcp::socket client(context);
        bool accepted = false;
        a.async_accept([&](error_code ec, tcp::socket) { accepted = !ec; });
        client.connect(a.local_endpoint());
        run();
        return accepted;
      },
      context);
  ::close(a.release());
  EXPECT_EQ(::write(released[1], "", 1), 1);
  EXPECT_TRUE(weft_test::has_succeeded(child));
  ::close(released[0]);
  ::close(released[1]);
}

TEST_P(acceptor, makes_new_sockets_on_another_context) {
  weft::io_context other(make_context_options(GetParam()));
  tcp::acceptor a(context, loopback());
  tcp::socket one(context), two(context);
  using on_io_context = tcp::socket::rebind_executor<weft::io_context::executor_type>::other;
  outcome<error_code, on_io_context> by_context, by_executor;
  tcp::endpoint from;
  a.async_accept(other, from, by_context.handler());
  a.async_accept(other.get_executor(), by_executor.handler());
  one.connect(a.local_endpoint());
  two.connect(a.local_endpoint());
  run();
  ASSERT_FALSE(by_context.ec());
  ASSERT_FALSE(by_executor.ec());
  on_io_context& peer = std::get<1>(*by_context.results);
  EXPECT_EQ(peer.get_executor(), other.get_executor());
  EXPECT_EQ(from, one.local_endpoint());
  EXPECT_TRUE(std::get<1>(*by_executor.results).is_open());
  by_context.results.reset();
  by_executor.results.reset();
}

TEST_P(acceptor, synchronous_accepts_take_all_forms) {
  tcp::acceptor a(context, loopback());
  std::vector<tcp::socket> clients;
  for (int i = 0; i != 6; ++i) {
    clients.emplace_back(context);
    clients.back().connect(a.local_endpoint());
  }
  error_code ec;
  tcp::endpoint from;
  tcp::socket peer(context);
  a.accept(peer);
  EXPECT_TRUE(peer.is_open());
  peer.close();
  a.accept(peer, from, ec);
  EXPECT_FALSE(ec);
  EXPECT_EQ(from, clients[1].local_endpoint());
  EXPECT_TRUE(a.accept(ec).is_open());
  EXPECT_TRUE(a.accept(context, from).is_open());
  EXPECT_TRUE(a.accept(context.get_executor(), from, ec).is_open());
  weft::generic::stream_protocol::socket g(context);
  a.accept(g, ec);
  EXPECT_FALSE(ec);
  a.non_blocking(true);
  EXPECT_FALSE(a.accept(ec).is_open());
  EXPECT_EQ(ec, weft::error::would_block);
}

TEST_P(acceptor, synchronous_accept_blocks_also_after_an_asynchronous_one) {
  tcp::acceptor a(context, loopback());
  status aborted;
  tcp::socket peer(context);
  a.async_accept(peer, aborted.handler());
  a.cancel();
  run();
  EXPECT_EQ(aborted.ec(), weft::error::operation_aborted);
  const tcp::endpoint where = a.local_endpoint();
  weft::io_context other;
  tcp::socket client(other);
  std::thread connector([&] { client.connect(where); });
  EXPECT_TRUE(a.accept().is_open());
  connector.join();
}

TEST_P(acceptor, open_peer_is_refused) {
  tcp::acceptor a(context, loopback());
  tcp::socket peer(context, tcp::v4());
  status accepted;
  a.async_accept(peer, accepted.handler());
  run();
  EXPECT_EQ(accepted.ec(), weft::error::already_open);
  error_code ec;
  a.accept(peer, ec);
  EXPECT_EQ(ec, weft::error::already_open);
}

TEST_P(acceptor, closed_acceptor_reports_bad_descriptor) {
  tcp::acceptor a(context);
  status into;
  outcome<error_code, tcp::socket> made;
  tcp::socket peer(context);
  a.async_accept(peer, into.handler());
  a.async_accept(made.handler());
  run();
  EXPECT_EQ(into.ec(), weft::error::bad_descriptor);
  EXPECT_EQ(made.ec(), weft::error::bad_descriptor);
  error_code ec;
  a.listen(5, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  a.accept(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(acceptor, socket_that_does_not_listen_reports_invalid_argument) {
  tcp::acceptor a(context, tcp::v4());
  outcome<error_code, tcp::socket> made;
  a.async_accept(made.handler());
  run();
  EXPECT_EQ(made.ec(), weft::error::invalid_argument);
}

TEST_P(acceptor, occupied_address_is_refused) {
  tcp::acceptor a(context, loopback());
  EXPECT_THROW(tcp::acceptor(context, a.local_endpoint()), weft::system_error);
}

TEST_P(acceptor, cancel_ends_accepts_and_keeps_the_acceptor) {
  tcp::acceptor a(context, loopback());
  outcome<error_code, tcp::socket> first, second;
  a.async_accept(first.handler());
  a.async_accept(second.handler());
  context.poll();
  a.cancel();
  run();
  EXPECT_EQ(first.ec(), weft::error::operation_aborted);
  EXPECT_EQ(second.ec(), weft::error::operation_aborted);
  tcp::socket client(context);
  client.connect(a.local_endpoint());
  EXPECT_TRUE(a.accept().is_open());
}

TEST_P(acceptor, close_frees_the_port_and_takes_no_connection_any_more) {
  for (int i = 0; i != 20; ++i) {
    tcp::acceptor a(context, loopback());
    const tcp::endpoint where = a.local_endpoint();
    outcome<error_code, tcp::socket> accepted;
    a.async_accept(accepted.handler());
    context.restart();
    context.poll();
    std::thread closer([&] { a.close(); });
    closer.join();
    tcp::socket client(context);
    error_code ec;
    client.connect(where, ec);
    EXPECT_EQ(ec, weft::error::connection_refused);
    tcp::acceptor again(context, where, false);
    run();
    EXPECT_EQ(accepted.ec(), weft::error::operation_aborted);
  }
}

TEST_P(acceptor, wait_tells_that_a_connection_has_come) {
  tcp::acceptor a(context, loopback());
  status ready;
  a.async_wait(tcp::acceptor::wait_read, ready.handler());
  context.poll();
  EXPECT_EQ(ready.calls, 0);
  tcp::socket client(context);
  client.connect(a.local_endpoint());
  run();
  EXPECT_FALSE(ready.ec());
  a.wait(tcp::acceptor::wait_read);
  a.non_blocking(true);
  EXPECT_TRUE(a.accept().is_open());
}

TEST_P(acceptor, connections_are_handed_out_in_the_order_of_the_accepts) {
  tcp::acceptor a(context, loopback());
  std::vector<tcp::endpoint> from(5);
  std::vector<tcp::socket> peers, clients;
  for (std::size_t i = 0; i != 5; ++i)
    a.async_accept(from[i], [&](error_code ec, tcp::socket s) {
      EXPECT_FALSE(ec);
      peers.push_back(std::move(s));
    });
  context.poll();
  for (int i = 0; i != 5; ++i) {
    clients.emplace_back(context);
    clients.back().connect(a.local_endpoint());
  }
  run();
  ASSERT_EQ(peers.size(), 5u);
  for (std::size_t i = 0; i != 5; ++i) {
    EXPECT_EQ(from[i], clients[i].local_endpoint());
    EXPECT_EQ(peers[i].remote_endpoint(), clients[i].local_endpoint());
  }
}

TEST_P(acceptor, accepted_descriptors_are_close_on_exec) {
  tcp::acceptor a(context, loopback());
  tcp::socket client(context);
  outcome<error_code, tcp::socket> accepted;
  a.async_accept(accepted.handler());
  client.connect(a.local_endpoint());
  run();
  const int fd = std::get<1>(*accepted.results).native_handle();
  EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

TEST_P(acceptor, undelivered_connection_is_closed_with_the_context) {
  std::optional<weft::io_context> other;
  other.emplace(make_context_options(GetParam()));
  tcp::socket client(context);
  {
    auto a = std::make_shared<tcp::acceptor>(*other, loopback());
    a->async_accept([a](error_code, tcp::socket) { FAIL(); });
    client.connect(a->local_endpoint());
  }
  other.reset();
  char c = 0;
  error_code ec;
  client.read_some(buffer(&c, 1), ec);
  EXPECT_TRUE(ec == weft::error::eof || ec == weft::error::connection_reset) << ec.message();
}

TEST_P(acceptor, works_with_unix_sockets_that_have_a_name) {
  unix_stream::acceptor a(
      context, unix_stream::endpoint(std::string("\0weft-test-", 11) + std::to_string(::getpid())));
  unix_stream::socket client(context);
  status connected;
  outcome<error_code, unix_stream::socket> accepted;
  a.async_accept(accepted.handler());
  client.async_connect(a.local_endpoint(), connected.handler());
  run();
  EXPECT_FALSE(accepted.ec());
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(client.remote_endpoint(), a.local_endpoint());
}

TEST_P(acceptor, aborted_connections_option_is_the_librarys_own) {
  tcp::acceptor a(context, loopback());
  tcp::acceptor::enable_connection_aborted option;
  a.get_option(option);
  EXPECT_FALSE(option.value());
  a.set_option(tcp::acceptor::enable_connection_aborted(true));
  a.get_option(option);
  EXPECT_TRUE(option.value());
}

TEST_P(acceptor, destroyed_while_accepts_are_pending_aborts_them) {
  outcome<error_code, tcp::socket> accepted;
  {
    tcp::acceptor a(context, loopback());
    a.async_accept(accepted.handler());
    context.poll();
  }
  run();
  EXPECT_EQ(accepted.ec(), weft::error::operation_aborted);
}

/// Lets a test use up the descriptors: the limit is lowered to what is open just now.
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
  ~descriptor_limit() { lift(); }
  void lift() { ::setrlimit(RLIMIT_NOFILE, &saved_); }

 private:
  rlimit saved_;
};

TEST_P(acceptor, descriptor_limit_is_reported_and_the_connection_is_kept) {
  tcp::acceptor a(context, loopback());
  tcp::socket client(context);
  client.connect(a.local_endpoint());
  outcome<error_code, tcp::socket> failed, accepted;
  error_code at_open, at_accept;
  tcp::socket another(context);
  {
    descriptor_limit limit;
    a.async_accept(failed.handler());
    run();
    another.open(tcp::v4(), at_open);
    a.accept(at_accept);
  }
  EXPECT_EQ(failed.ec(), weft::error::no_descriptors);
  EXPECT_EQ(at_open, weft::error::no_descriptors);
  EXPECT_EQ(at_accept, weft::error::no_descriptors);
  a.async_accept(accepted.handler());
  run();
  EXPECT_FALSE(accepted.ec());
}

TEST_P(acceptor, loop_of_accepts_does_not_spin_at_the_descriptor_limit) {
  tcp::acceptor a(context, loopback());
  tcp::socket client(context);
  client.connect(a.local_endpoint());
  int failures = 0;
  std::function<void()> loop = [&] {
    a.async_accept([&](error_code ec, tcp::socket) {
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
  a.close();
  run();
}

TEST_P(acceptor, accept_after_a_shortage_waits_until_a_descriptor_is_closed) {
  // It is tried again when 50 ms have passed, so all is done anew if these threads are held up.
  bool is_in_time = false;
  for (int i = 0; i != 20 && !is_in_time; ++i) {
    tcp::acceptor a(context, loopback());
    tcp::socket client(context), spare(context, tcp::v4());
    client.connect(a.local_endpoint());
    outcome<error_code, tcp::socket> failed, accepted;
    std::atomic<int> phase{0};
    std::thread closer([&] {
      phase.wait(0);
      spare.close();
      phase.wait(1);
    });
    const auto begun = std::chrono::steady_clock::now();
    {
      descriptor_limit limit;
      a.async_accept(failed.handler());
      run();
      a.async_accept(accepted.handler());
      context.restart();
      context.poll();
      phase = 1;
      phase.notify_one();
      run_until_done(accepted);
    }
    phase = 2;
    phase.notify_one();
    closer.join();
    EXPECT_EQ(failed.ec(), weft::error::no_descriptors);
    is_in_time = !accepted.ec();
    if (!is_in_time) {
      EXPECT_EQ(accepted.ec(), weft::error::no_descriptors);
      EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(50));
    }
  }
  EXPECT_TRUE(is_in_time);
}

TEST_P(acceptor, accept_that_waits_for_a_descriptor_can_be_cancelled) {
  tcp::acceptor a(context, loopback());
  outcome<error_code, tcp::socket> failed, waiting;
  descriptor_limit limit;
  a.async_accept(failed.handler());
  run();
  a.async_accept(waiting.handler());
  a.cancel();
  run();
  EXPECT_EQ(waiting.ec(), weft::error::operation_aborted);
}

WEFT_INSTANTIATE_BACKENDS(acceptor);

}  // namespace
