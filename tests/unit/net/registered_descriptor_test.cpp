// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <weft/context/post.hpp>
#include <weft/execution/config.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/fs_stat.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/stream_file.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/net/accept_stream.hpp>
#include <weft/net/hand_over.hpp>
#include <weft/net/receive_stream.hpp>
#include <weft/net/udp.hpp>

#include "io/backend/uring/fixed_files.hpp"
#include "io/io_driver.hpp"
#include "support/child.hpp"
#include "support/temporary_directory.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using weft::detail::fixed_files;
using pair_of_sockets = std::pair<unix_stream::socket, unix_stream::socket>;

weft::config_from_string registering_after(weft::backend_kind kind, int requests) {
  return weft::config_from_string(std::string("backend.kind=") + weft::to_string(kind) +
                                  "\nbackend.registered_after=" + std::to_string(requests));
}

pair_of_sockets connected(weft::io_context& context) {
  pair_of_sockets pair{context, context};
  weft::local::connect_pair(pair.first, pair.second);
  return pair;
}

/// Sends a byte to a socket that waits for it, with one request. True: it has come.
bool ping(weft::io_context& context, pair_of_sockets& pair) {
  char c = 0;
  transfer got;
  pair.second.async_read_some(buffer(&c, 1), got.handler());
  context.restart();
  context.poll();
  if (got.calls != 0)
    return false;
  pair.first.write_some(buffer("p", 1));
  context.restart();
  while (got.calls == 0 && context.run_one() != 0) {}
  return !got.ec() && c == 'p';
}

/// Whether a socket's peer has closed it, as far as the kernel knows now.
bool has_ended(int fd) {
  char c;
  return ::recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

/// Lets the process have fewer descriptors; those it has stay.
class descriptor_limit {
 public:
  explicit descriptor_limit(rlim_t soft) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limited{soft, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limited), 0);
  }
  ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// On a context that registers each descriptor at its first request, if it can. What is counted is
/// zero elsewhere; the rest is the same everywhere.
class registered_descriptor : public ::testing::TestWithParam<weft::backend_kind> {
 protected:
  static bool registers() {
    return GetParam() == weft::backend_kind::uring && fixed_files::usable();
  }
  static unsigned expected(unsigned n) { return registers() ? n : 0; }
  static unsigned count(weft::io_context& c) {
    return weft::detail::use_io_driver(c).descriptors().count;
  }
  static std::uint64_t requests(weft::io_context& c) {
    return weft::detail::use_io_driver(c).descriptors().requests;
  }
  unsigned count() { return count(context); }
  std::uint64_t requests() { return requests(context); }

  void poll() {
    context.restart();
    context.poll();
  }
  void run() {
    context.restart();
    context.run();
  }

  weft::io_context context{registering_after(GetParam(), 1)};
};
WEFT_INSTANTIATE_BACKENDS(registered_descriptor);

TEST_P(registered_descriptor, comes_with_the_request_of_that_number_and_goes_with_close) {
  weft::io_context third(registering_after(GetParam(), 3));
  auto pair = connected(third);
  for (unsigned i = 1; i != 10; ++i) {
    EXPECT_TRUE(ping(third, pair));
    EXPECT_EQ(count(third), expected(i < 3 ? 0 : 1));
    EXPECT_EQ(requests(third), expected(i < 3 ? 0 : i - 2));
  }
  pair.second.close();
  EXPECT_EQ(count(third), 0u);
}

TEST_P(registered_descriptor, is_none_where_that_is_not_wanted) {
  weft::io_context never(registering_after(GetParam(), 0));
  auto pair = connected(never);
  for (int i = 0; i != 100; ++i)
    EXPECT_TRUE(ping(never, pair));
  EXPECT_EQ(count(never), 0u);
}

TEST_P(registered_descriptor, is_not_left_by_ten_thousand_connections) {
  auto bystander = connected(context);
  char c;
  transfer pending;
  bystander.second.async_read_some(buffer(&c, 1), pending.handler());
  poll();
  constexpr unsigned cycles = 10'000;
  for (unsigned i = 0; i != cycles; ++i) {
    auto pair = connected(context);
    transfer aborted;
    if (i % 2 == 0) {
      ASSERT_TRUE(ping(context, pair));
      pair.second.close();
    } else {
      pair.second.async_read_some(buffer(&c, 1), aborted.handler());
      poll();
      ASSERT_EQ(count(), expected(2));
      pair.second.close();
      ASSERT_TRUE(has_ended(pair.first.native_handle()));
      poll();
      ASSERT_EQ(aborted.ec(), weft::error::operation_aborted);
    }
    ASSERT_TRUE(has_ended(pair.first.native_handle()));
    ASSERT_EQ(count(), expected(1));
  }
  EXPECT_EQ(requests(), expected(cycles + 1));
  EXPECT_EQ(pending.calls, 0);
}

TEST_P(registered_descriptor, frees_its_port_when_closed_while_others_are_busy) {
  auto bystander = connected(context);
  char c;
  transfer pending;
  bystander.second.async_read_some(buffer(&c, 1), pending.handler());
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0}, false);
  const tcp::endpoint endpoint = acceptor.local_endpoint();
  outcome<error_code, tcp::socket> accepted;
  acceptor.async_accept(accepted.handler());
  poll();
  EXPECT_EQ(count(), expected(2));
  acceptor.close();
  EXPECT_NO_THROW(tcp::acceptor(context, endpoint, false));
  poll();
  EXPECT_EQ(accepted.ec(), weft::error::operation_aborted);
}

TEST_P(registered_descriptor, is_let_go_by_a_release_elsewhere_while_the_poller_sleeps) {
  auto pair = connected(context);
  auto bystander = connected(context);
  char c = 0, other = 0;
  transfer aborted, pending;
  pair.second.async_read_some(buffer(&c, 1), aborted.handler());
  bystander.second.async_read_some(buffer(&other, 1), pending.handler());
  std::thread runner([&] { context.run(); });
  std::latch running(1);
  weft::post(context, [&] { running.count_down(); });
  running.wait();
  EXPECT_EQ(count(), expected(2));
  const int fd = pair.second.release();
  EXPECT_EQ(count(), expected(1));
  pair.first.write_some(buffer("n", 1));
  EXPECT_EQ(::recv(fd, &c, 1, MSG_DONTWAIT), 1);
  EXPECT_EQ(c, 'n');
  ::close(fd);
  EXPECT_TRUE(has_ended(pair.first.native_handle()));
  bystander.first.write_some(buffer("b", 1));
  runner.join();
  EXPECT_EQ(aborted.ec(), weft::error::operation_aborted);
  EXPECT_EQ(pending.bytes(), 1u);
  EXPECT_EQ(other, 'b');
}

TEST_P(registered_descriptor, moves_to_the_context_it_is_handed_over_to) {
  weft::io_context other(registering_after(GetParam(), 1));
  auto pair = connected(context);
  EXPECT_TRUE(ping(context, pair));
  EXPECT_EQ(count(), expected(1));
  pair.second = weft::hand_over(std::move(pair.second), other);
  EXPECT_EQ(count(), 0u);
  EXPECT_TRUE(ping(other, pair));
  EXPECT_EQ(count(other), expected(1));
  pair.second.close();
  EXPECT_EQ(count(other), 0u);
  EXPECT_TRUE(has_ended(pair.first.native_handle()));
}

TEST_P(registered_descriptor, is_one_of_so_many_and_the_rest_are_ordinary) {
  std::vector<pair_of_sockets> pairs;
  for (int i = 0; i != 40; ++i)
    pairs.push_back(connected(context));
  {
    const descriptor_limit limit(24);
    EXPECT_TRUE(ping(context, pairs.front()));
  }
  for (int round = 0; round != 2; ++round)
    for (auto& pair : pairs)
      EXPECT_TRUE(ping(context, pair));
  EXPECT_EQ(count(), expected(24));
  EXPECT_EQ(requests(), expected(1 + 2 * 24));
  pairs.erase(pairs.begin());
  EXPECT_EQ(count(), expected(23));
  auto next = connected(context);
  EXPECT_TRUE(ping(context, next));
  EXPECT_EQ(count(), expected(24));
}

TEST_P(registered_descriptor, is_ordinary_where_the_table_is_refused) {
  auto pair = connected(context);
  {
    const descriptor_limit limit(0);
    EXPECT_TRUE(ping(context, pair));
  }
  EXPECT_TRUE(ping(context, pair));
  EXPECT_EQ(count(), 0u);
}

TEST_P(registered_descriptor, of_every_kind) {
  std::uint64_t before = requests();
  const auto named = [&] { return requests() - std::exchange(before, requests()); };
  char c[4] = {};

  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  weft::connect_pipe(in, out);
  transfer piped;
  in.async_read_some(buffer(c), piped.handler());
  poll();
  EXPECT_EQ(named(), expected(1));
  out.write_some(buffer("pipe", 4));
  run();
  EXPECT_EQ(piped.bytes(), 4u);

  weft::ip::udp::socket receiver(context, {weft::ip::address_v4::loopback(), 0});
  weft::ip::udp::socket sender(context, weft::ip::udp::v4());
  transfer datagram;
  receiver.async_receive(buffer(c), datagram.handler());
  poll();
  EXPECT_EQ(named(), expected(1));
  sender.send_to(buffer("udp", 3), receiver.local_endpoint());
  run();
  EXPECT_EQ(datagram.bytes(), 3u);

  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  tcp::socket client(context, tcp::v4());
  outcome<error_code, tcp::socket> accepted;
  status connected_;
  acceptor.async_accept(accepted.handler());
  poll();
  EXPECT_EQ(named(), expected(1));
  client.async_connect(acceptor.local_endpoint(), connected_.handler());
  run();
  EXPECT_FALSE(connected_.ec());
  EXPECT_FALSE(accepted.ec());
  EXPECT_LE(named(), 1u);  // it may connect at once
  transfer whole;
  tcp::socket& peer = std::get<1>(*accepted.results);
  peer.async_read_some(buffer(c), whole.handler());
  client.write_some(buffer("tcp", 3));
  run();
  EXPECT_EQ(whole.bytes(), 3u);
  EXPECT_EQ(named(), expected(1));
  status readable;
  peer.async_wait(tcp::socket::wait_read, readable.handler());
  client.write_some(buffer("w", 1));
  run();
  EXPECT_FALSE(readable.ec());

  named();
  const temporary_directory directory;
  weft::stream_file file(context, directory.file("f", "file"), weft::stream_file::read_only);
  transfer read;
  file.async_read_some(buffer(c), read.handler());
  run();
  EXPECT_EQ(read.bytes(), 4u);
  EXPECT_EQ(std::string(c, 4), "file");
  EXPECT_EQ(named(), expected(1));
  outcome<error_code, weft::fs::file_status> found;
  weft::fs::async_stat(file, found.handler());
  run();
  EXPECT_FALSE(found.ec());
  EXPECT_EQ(std::get<1>(*found.results).size, 4u);
}

TEST_P(registered_descriptor, is_not_made_for_requests_that_cannot_name_it) {
  const temporary_directory directory;
  weft::stream_file file(context, directory.file("f", "file"), weft::stream_file::read_only);
  for (int i = 0; i != 3; ++i) {
    outcome<error_code, weft::fs::file_status> found;
    weft::fs::async_stat(file, found.handler());
    run();
    EXPECT_FALSE(found.ec());
  }
  EXPECT_EQ(count(), 0u);
  char c[4];
  transfer read;
  file.async_read_some(buffer(c), read.handler());
  run();
  EXPECT_EQ(count(), expected(1));
  EXPECT_EQ(requests(), expected(1));
}

TEST_P(registered_descriptor, of_streams) {
  auto pair = connected(context);
  {
    weft::receive_stream<unix_stream::socket> stream(pair.second);
    for (int i = 0; i != 3; ++i) {
      outcome<error_code, weft::received_buffer> piece;
      stream.async_receive(piece.handler());
      pair.first.write_some(buffer("s", 1));
      run();
      EXPECT_EQ(std::get<1>(*piece.results).size(), 1u);
    }
    EXPECT_EQ(count(), expected(1));
    EXPECT_EQ(requests(), expected(1));
    outcome<error_code, weft::received_buffer> aborted;
    stream.async_receive(aborted.handler());
    poll();
    pair.second.close();
    EXPECT_TRUE(has_ended(pair.first.native_handle()));
    poll();
    EXPECT_EQ(aborted.ec(), weft::error::operation_aborted);
  }
  EXPECT_EQ(count(), 0u);
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0}, false);
  const tcp::endpoint endpoint = acceptor.local_endpoint();
  {
    weft::accept_stream<tcp::acceptor> stream(acceptor);
    outcome<error_code, tcp::socket> accepted;
    stream.async_accept(accepted.handler());
    poll();
    EXPECT_EQ(count(), expected(1));
    tcp::socket client(context);
    client.connect(endpoint);
    client.set_option(tcp::socket::linger(true, 0));
    run();
    EXPECT_FALSE(accepted.ec());
  }
  acceptor.close();
  EXPECT_EQ(count(), 0u);
}

TEST_P(registered_descriptor, of_the_parent_of_a_fork_is_not_the_childs) {
  auto pair = connected(context);
  auto own = connected(context);
  EXPECT_TRUE(ping(context, pair));
  EXPECT_TRUE(ping(context, own));
  EXPECT_EQ(count(), expected(2));
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        const std::uint64_t before = requests();
        const bool none = count() == 0;
        const bool served = ping(context, own) && ping(context, own);
        const bool entered = count() == expected(1) && requests() == before + expected(2);
        pair.second.close();
        own.second.close();
        return none && served && entered && count() == 0;
      },
      context));
  EXPECT_EQ(count(), expected(2));
  EXPECT_TRUE(ping(context, pair));
  EXPECT_TRUE(ping(context, own));
  EXPECT_EQ(requests(), expected(4));
  pair.second.close();
  EXPECT_TRUE(has_ended(pair.first.native_handle()));
}

TEST_P(registered_descriptor, survives_a_close_in_a_child_that_does_not_tell_its_context) {
  auto pair = connected(context);
  EXPECT_TRUE(ping(context, pair));
  EXPECT_TRUE(weft_test::succeeds_in_a_child([&] {
    // On epoll the set is the parent's, too, and this would take the socket out of it.
    if (registers())
      pair.second.close();
    return true;
  }));
  EXPECT_TRUE(ping(context, pair));
  EXPECT_EQ(requests(), expected(2));
}

TEST_P(registered_descriptor, is_none_of_a_context_of_one_thread_and_closing_elsewhere_is_right) {
  weft::io_context single({.single_thread = true, .backend = GetParam()});
  auto pair = connected(single);
  std::thread([&] {
    for (int i = 0; i != 200; ++i)
      EXPECT_TRUE(ping(single, pair));
  }).join();
  EXPECT_EQ(count(single), 0u);
  pair.second.close();
  EXPECT_TRUE(has_ended(pair.first.native_handle()));
}

}  // namespace
