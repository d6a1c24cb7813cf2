// SPDX-License-Identifier: BSL-1.0
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/use_future.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/io/write.hpp>
#include <weft/net/receive_stream.hpp>

#include "unit/net/socket_fixture.hpp"

#include "support/child.hpp"
#include "support/sanitizer.hpp"

namespace {

using namespace weft_test;
using stream_of_tcp = weft::receive_stream<tcp::socket>;
using stream_of_unix = weft::receive_stream<unix_stream::socket>;

struct piece : outcome<error_code, weft::received_buffer> {
  std::string text() const {
    const weft::received_buffer& b = std::get<1>(*results);
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
};

/// Text whose every byte tells where it belongs.
std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i != size; ++i)
    text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  return text;
}

/// Receives until `size` bytes have come or an error; appends to `text`.
template <class Stream>
struct collector {
  Stream& stream;
  std::size_t size;
  std::string text{};
  error_code ec{};

  void start() {
    stream.async_receive([this](error_code e, weft::received_buffer b) {
      ec = e;
      text.append(reinterpret_cast<const char*>(b.data()), b.size());
      if (!ec && text.size() < size)
        start();
    });
  }
};

class receive_stream : public socket_test {
 protected:
  /// Writes until the socket takes no more; returns how much it took.
  template <class Socket>
  std::size_t fill(Socket& socket, const std::string& text, std::size_t from) {
    std::size_t sent = 0;
    socket.non_blocking(true);
    for (error_code ec; from + sent < text.size();) {
      sent += socket.write_some(buffer(text.data() + from + sent, text.size() - from - sent), ec);
      if (ec)
        break;
    }
    return sent;
  }

  void poll() {
    context.restart();
    context.poll();
  }
};

TEST_P(receive_stream, delivers_what_the_peer_writes) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece first, second;
  stream.async_receive(first.handler());
  EXPECT_EQ(first.calls, 0);
  client.write_some(buffer("one", 3));
  EXPECT_EQ(first.calls, 0);
  run();
  ASSERT_FALSE(first.ec());
  EXPECT_EQ(first.text(), "one");
  client.write_some(buffer("two", 3));
  stream.async_receive(second.handler());
  run();
  ASSERT_FALSE(second.ec());
  EXPECT_EQ(second.text(), "two");
}

TEST_P(receive_stream, keeps_every_byte_in_order) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  const std::string text = pattern(3'000'000);
  status written;
  weft::async_write(client, buffer(text),
                    [&](error_code ec, std::size_t) { written.handler()(ec); });
  collector<stream_of_tcp> all{stream, text.size()};
  all.start();
  run();
  EXPECT_FALSE(written.ec());
  EXPECT_TRUE(all.text == text);
}

TEST_P(receive_stream, keeps_every_byte_in_order_over_many_small_messages) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server, 4);
  const std::string text = pattern(20'000);
  collector<stream_of_unix> all{stream, text.size()};
  all.start();
  std::size_t sent = 0;
  while (all.text.size() != text.size()) {
    for (int i = 0; i != 10 && sent != text.size(); ++i)
      sent += client.write_some(
          buffer(text.data() + sent, std::min<std::size_t>(10, text.size() - sent)));
    poll();
    ASSERT_FALSE(all.ec);
    if (all.text.size() < sent)
      context.restart(), context.run_one();
  }
  EXPECT_TRUE(all.text == text);
}

TEST_P(receive_stream, serves_waiting_receives_in_the_order_they_were_started) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server);
  piece pieces[5];
  for (piece& p : pieces)
    stream.async_receive(p.handler());
  for (piece& p : pieces) {
    client.write_some(buffer("x", 1));
    run_until_done(p);
    EXPECT_EQ(p.text(), "x");
  }
}

TEST_P(receive_stream, pauses_until_what_it_holds_is_consumed) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server, 2);
  const std::string text = pattern(40'000'000);
  piece first;
  stream.async_receive(first.handler());
  std::size_t sent = fill(client, text, 0);
  run();
  ASSERT_FALSE(first.ec());
  for (std::size_t more = 1, quiet = 0; quiet != 20; quiet = more == 0 ? quiet + 1 : 0) {
    poll();
    more = fill(client, text, sent);
    sent += more;
  }
  ASSERT_LT(sent, text.size());
  collector<stream_of_unix> rest{stream, sent - first.text().size()};
  rest.start();
  run();
  EXPECT_TRUE(first.text() + rest.text == text.substr(0, sent));
}

TEST_P(receive_stream, other_streams_go_on_while_the_buffers_of_all_are_owned) {
  std::vector<std::pair<unix_stream::socket, unix_stream::socket>> pairs;
  std::vector<weft::received_buffer> owned;
  {
    pairs.push_back(unix_pair());
    auto& [client, server] = pairs.back();
    stream_of_unix greedy(server);
    while (owned.size() != 1100) {
      client.write_some(buffer("x", 1));
      piece p;
      greedy.async_receive(p.handler());
      run();
      ASSERT_FALSE(p.ec());
      ASSERT_EQ(p.text(), "x");
      owned.push_back(std::move(std::get<1>(*p.results)));
    }
  }
  std::vector<stream_of_unix> streams;
  for (int i = 0; i != 3; ++i)
    pairs.push_back(unix_pair());
  for (int i = 1; i != 4; ++i)
    streams.emplace_back(pairs[i].second);
  for (int round = 0; round != 20; ++round) {
    if (round == 10)
      owned.resize(200);
    piece p[3];
    for (int i = 0; i != 3; ++i) {
      streams[i].async_receive(p[i].handler());
      pairs[i + 1].first.write_some(buffer(&"abcdefghijklmnopqrst"[round], 1));
    }
    run();
    for (int i = 0; i != 3; ++i)
      EXPECT_EQ(p[i].text(), std::string(1, static_cast<char>('a' + round)));
  }
}

TEST_P(receive_stream, buffer_outlives_stream_socket_and_context) {
  weft::received_buffer kept;
  {
    weft::io_context other(make_context_options(GetParam()));
    unix_stream::socket one(other), two(other);
    weft::local::connect_pair(one, two);
    stream_of_unix stream(two);
    stream.async_receive([&](error_code, weft::received_buffer b) { kept = std::move(b); });
    one.write_some(buffer("kept", 4));
    other.run();
  }
  EXPECT_EQ(std::string(reinterpret_cast<char*>(kept.data()), kept.size()), "kept");
  std::thread([b = std::move(kept)]() mutable { b.reset(); }).join();
  EXPECT_TRUE(kept.empty());
}

TEST_P(receive_stream, buffer_can_be_sent_on) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server);
  stream.async_receive([&out = server](error_code, weft::received_buffer b) {
    const auto bytes = b.buffer();
    weft::async_write(out, bytes, [b = std::move(b)](error_code ec, std::size_t n) {
      EXPECT_FALSE(ec);
      EXPECT_EQ(n, 4u);
    });
  });
  client.write_some(buffer("echo", 4));
  run();
  char answer[8];
  EXPECT_EQ(client.read_some(buffer(answer)), 4u);
}

TEST_P(receive_stream, end_of_stream_comes_after_the_bytes_and_again_each_time) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece first, end[3];
  stream.async_receive(first.handler());
  client.write_some(buffer("last", 4));
  client.close();
  run();
  EXPECT_EQ(first.text(), "last");
  for (piece& p : end)
    stream.async_receive(p.handler());
  run();
  for (piece& p : end) {
    EXPECT_EQ(p.ec(), weft::error::eof);
    EXPECT_TRUE(p.text().empty());
  }
}

TEST_P(receive_stream, reset_is_reported) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece p;
  stream.async_receive(p.handler());
  client.set_option(weft::socket_base::linger(true, 0));
  client.close();
  run();
  EXPECT_EQ(p.ec(), weft::error::connection_reset);
}

TEST_P(receive_stream, stopped_delivers_what_it_took_and_leaves_the_rest_to_the_socket) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server, 3);
  const std::string text = pattern(30);
  piece first;
  stream.async_receive(first.handler());
  for (int i = 0; i != 30; ++i)
    client.write_some(buffer(text.data() + i, 1));
  run_until_done(first);
  poll();
  stream.stop();
  stream.stop();
  collector<stream_of_unix> held{stream, 100};
  held.start();
  run();
  EXPECT_EQ(held.ec, weft::error::operation_aborted);
  std::string all = first.text() + held.text;
  server.non_blocking(true);
  char rest[64];
  error_code ec;
  const std::size_t n = server.read_some(buffer(rest), ec);
  all.append(rest, n);
  EXPECT_EQ(all, text);
}

TEST_P(receive_stream, stopping_ends_waiting_receives) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, two, after;
  stream.async_receive(one.handler());
  stream.async_receive(two.handler());
  poll();
  stream.stop();
  stream.async_receive(after.handler());
  run();
  EXPECT_EQ(one.ec(), weft::error::operation_aborted);
  EXPECT_EQ(two.ec(), weft::error::operation_aborted);
  EXPECT_EQ(after.ec(), weft::error::operation_aborted);
  client.write_some(buffer("plain", 5));
  char text[8];
  EXPECT_EQ(server.read_some(buffer(text)), 5u);
}

TEST_P(receive_stream, nothing_is_taken_after_stop_from_another_thread) {
  for (int i = 0; i != 20; ++i) {
    auto [client, server] = unix_pair();
    auto work = weft::make_work_guard(context);
    context.restart();
    std::thread runner([&] { context.run(); });
    stream_of_unix stream(server);
    collector<stream_of_unix> all{stream, 1000};
    all.start();
    const std::string text = pattern(10);
    client.write_some(buffer(text.data(), 5));
    stream.stop();
    client.write_some(buffer(text.data() + 5, 5));
    work.reset();
    runner.join();
    EXPECT_EQ(all.ec, weft::error::operation_aborted);
    char rest[16];
    const std::size_t n = server.read_some(buffer(rest));
    EXPECT_EQ(all.text + std::string(rest, n), text);
  }
}

TEST_P(receive_stream, cancelling_ends_the_waits_and_loses_no_byte) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, two, after;
  stream.cancel();
  stream.async_receive(one.handler());
  stream.async_receive(two.handler());
  stream.cancel();
  client.write_some(buffer("kept", 4));
  stream.async_receive(after.handler());
  run();
  EXPECT_EQ(one.ec(), weft::error::operation_aborted);
  EXPECT_EQ(two.ec(), weft::error::operation_aborted);
  EXPECT_EQ(after.text(), "kept");
  stream.cancel();
}

TEST_P(receive_stream, cancelling_the_socket_ends_the_waits_and_the_stream_can_go_on) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, after;
  stream.async_receive(one.handler());
  poll();
  server.cancel();
  stream.async_receive(after.handler());
  client.write_some(buffer("kept", 4));
  run();
  EXPECT_EQ(one.ec(), weft::error::operation_aborted);
  EXPECT_EQ(after.text(), "kept");
}

TEST_P(receive_stream, cancelling_by_slot_ends_one_wait_and_loses_no_byte) {
  auto [client, server] = unix_pair();
  stream_of_unix stream(server);
  for (int i = 0; i != 20; ++i) {
    weft::cancellation_signal signal;
    piece one, two;
    stream.async_receive(weft::bind_cancellation_slot(signal.slot(), one.handler()));
    stream.async_receive(two.handler());
    poll();
    if (i % 2)
      client.write_some(buffer("x", 1));
    signal.emit(weft::cancellation_type::total);
    if (!(i % 2))
      client.write_some(buffer("x", 1));
    run_until_done(two);
    EXPECT_EQ(one.ec(), weft::error::operation_aborted);
    EXPECT_EQ(two.text(), "x");
  }
}

TEST_P(receive_stream, closing_the_socket_ends_the_waits) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, after;
  stream.async_receive(one.handler());
  poll();
  server.close();
  stream.async_receive(after.handler());
  run();
  EXPECT_EQ(one.ec(), weft::error::operation_aborted);
  EXPECT_EQ(after.ec(), weft::error::bad_descriptor);
}

TEST_P(receive_stream, socket_opened_anew_is_not_the_streams) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, after;
  stream.async_receive(one.handler());
  client.write_some(buffer("1", 1));
  client.write_some(buffer("2", 1));
  run();
  server.close();
  auto [other, again] = tcp_pair();
  server.assign(tcp::v4(), again.release());
  other.write_some(buffer("x", 1));
  stream.async_receive(after.handler());
  run();
  EXPECT_EQ(after.ec(), weft::error::bad_descriptor);
  char c = 0;
  EXPECT_EQ(server.read_some(buffer(&c, 1)), 1u);
  EXPECT_EQ(c, 'x');
}

TEST_P(receive_stream, socket_closed_by_another_thread_ends_the_waits) {
  for (int i = 0; i != 20; ++i) {
    auto [client, server] = tcp_pair();
    stream_of_tcp stream(server);
    collector<stream_of_tcp> all{stream, 1000};
    all.start();
    client.write_some(buffer("text", 4));
    std::thread closer([&closing = server] { closing.close(); });
    run();
    closer.join();
    EXPECT_TRUE(all.ec == weft::error::operation_aborted || all.ec == weft::error::bad_descriptor);
    char c = 0;
    error_code ec;
    client.read_some(buffer(&c, 1), ec);
    EXPECT_TRUE(ec == weft::error::eof || ec == weft::error::connection_reset);
  }
}

TEST_P(receive_stream, follows_its_descriptor_when_the_socket_is_moved) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, two;
  stream.async_receive(one.handler());
  tcp::socket moved(std::move(server));
  stream_of_tcp moved_stream(std::move(stream));
  client.write_some(buffer("one", 3));
  run();
  EXPECT_EQ(one.text(), "one");
  moved_stream.async_receive(two.handler());
  client.write_some(buffer("two", 3));
  run();
  EXPECT_EQ(two.text(), "two");
}

TEST_P(receive_stream, destroyed_it_ends_the_waits_and_the_socket_can_be_read) {
  auto [client, server] = tcp_pair();
  piece one, two;
  {
    stream_of_tcp stream(server);
    stream.async_receive(one.handler());
    stream.async_receive(two.handler());
    poll();
  }
  client.write_some(buffer("text", 4));
  run();
  EXPECT_EQ(one.ec(), weft::error::operation_aborted);
  EXPECT_EQ(two.ec(), weft::error::operation_aborted);
  char text[8];
  EXPECT_EQ(server.read_some(buffer(text)), 4u);
}

TEST_P(receive_stream, does_not_keep_the_context_running_by_itself) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, two;
  stream.async_receive(one.handler());
  client.write_some(buffer("1", 1));
  run();
  EXPECT_TRUE(one.done());
  EXPECT_EQ((context.restart(), context.run()), 0u);
  client.write_some(buffer("2", 1));
  stream.async_receive(two.handler());
  run();
  EXPECT_EQ(two.text(), "2");
}

TEST_P(receive_stream, context_is_destroyed_while_streams_run) {
  int calls = 0;
  {
    weft::io_context other(make_context_options(GetParam()));
    for (int i = 0; i != 5; ++i) {
      auto pair =
          std::make_shared<std::pair<unix_stream::socket, unix_stream::socket>>(other, other);
      weft::local::connect_pair(pair->first, pair->second);
      auto stream = std::make_shared<stream_of_unix>(pair->second);
      for (int k = 0; k != 3; ++k)
        stream->async_receive(
            [&calls, pair, stream](error_code, weft::received_buffer) { ++calls; });
      if (i % 2)
        pair->first.write_some(buffer("ab", 2));
    }
    other.run_one();
  }
  EXPECT_LE(calls, 1);
}

TEST_P(receive_stream, goes_on_when_the_thread_that_started_it_exits) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  piece one, two;
  std::thread([&] {
    stream.async_receive(one.handler());
    client.write_some(buffer("1", 1));
    context.run();
    stream.async_receive(two.handler());
    poll();
  }).join();
  client.write_some(buffer("2", 1));
  run();
  EXPECT_EQ(one.text(), "1");
  EXPECT_EQ(two.text(), "2");
}

TEST_P(receive_stream, several_streams_run_on_two_threads) {
  constexpr int count = 8;
  const std::string text = pattern(200'000);
  std::vector<std::pair<unix_stream::socket, unix_stream::socket>> pairs;
  std::vector<stream_of_unix> streams;
  std::vector<std::unique_ptr<collector<stream_of_unix>>> all;
  for (int i = 0; i != count; ++i)
    pairs.push_back(unix_pair());
  for (auto& pair : pairs)
    streams.emplace_back(pair.second, 2);
  for (int i = 0; i != count; ++i) {
    all.push_back(std::unique_ptr<collector<stream_of_unix>>(
        new collector<stream_of_unix>{streams[i], text.size()}));
    all.back()->start();
    weft::async_write(pairs[i].first, buffer(text),
                      [](error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  }
  std::thread other([&] { context.run(); });
  context.run();
  other.join();
  for (auto& c : all)
    EXPECT_TRUE(c->text == text);
}

TEST_P(receive_stream, child_of_a_fork_takes_bytes_by_a_ring_of_its_own) {
#if !WEFT_TEST_FORKS_OF_THREADS
  GTEST_SKIP() << "ThreadSanitizer starts no thread in the child of several";
#endif
  auto [client, server] = unix_pair();
  auto [client_of_child, server_of_child] = unix_pair();
  stream_of_unix stream(server), stream_of_child(server_of_child);
  piece warm, in_parent, in_child;
  stream.async_receive(warm.handler());
  client.write_some(buffer("w", 1));
  run();
  stream.async_receive(in_parent.handler());
  stream_of_child.async_receive(in_child.handler());
  poll();
  const pid_t child = weft_test::start_told_child(
      [&] {
        stream.stop();
        run_until_done(in_child);
        return in_child.text() == "child";
      },
      context);
  stream_of_child.stop();
  client_of_child.write_some(buffer("child", 5));
  EXPECT_TRUE(weft_test::has_succeeded(child));
  client.write_some(buffer("parent", 6));
  run_until_done(in_parent);
  EXPECT_EQ(in_parent.text(), "parent");
}

TEST_P(receive_stream, runs_on_a_context_of_one_thread) {
  weft::io_context alone({.concurrency_hint = 1, .single_thread = true, .backend = GetParam()});
  unix_stream::socket client(alone), server(alone);
  weft::local::connect_pair(client, server);
  stream_of_unix stream(server);
  piece pieces[3];
  for (piece& p : pieces) {
    stream.async_receive(p.handler());
    client.write_some(buffer("x", 1));
    alone.run();
    alone.restart();
    EXPECT_EQ(p.text(), "x");
    p.results.reset();
  }
}

TEST_P(receive_stream, completes_a_future) {
  auto [client, server] = tcp_pair();
  stream_of_tcp stream(server);
  auto bytes = stream.async_receive(weft::use_future);
  client.write_some(buffer("1", 1));
  run();
  EXPECT_EQ(bytes.get().size(), 1u);
}

TEST_P(receive_stream, on_a_closed_socket_reports_bad_descriptor) {
  tcp::socket closed(context);
  stream_of_tcp stream(closed);
  piece p;
  stream.async_receive(p.handler());
  EXPECT_EQ(p.calls, 0);
  run();
  EXPECT_EQ(p.ec(), weft::error::bad_descriptor);
}

WEFT_INSTANTIATE_BACKENDS(receive_stream);

}  // namespace
