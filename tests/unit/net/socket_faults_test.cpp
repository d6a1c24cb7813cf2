// SPDX-License-Identifier: BSL-1.0
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/bind_allocator.hpp>
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/descriptor_passing.hpp>
#include <weft/net/happy_eyeballs.hpp>
#include <weft/net/sendfile.hpp>
#include <weft/net/udp_protocol.hpp>
#include <weft/net/zero_copy.hpp>

#include "unit/net/full_acceptor.hpp"

namespace {

using namespace weft_test;
using udp = weft::ip::udp;

/// Counts what it hands out, and fails when told to.
struct allocation_count {
  int until_failure = -1;  // how many succeed; negative: all
  int live = 0;
};
template <class T>
struct counting_allocator {
  using value_type = T;
  explicit counting_allocator(allocation_count& c) : count(&c) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : count(other.count) {}
  T* allocate(std::size_t n) {
    if (count->until_failure == 0)
      throw std::bad_alloc();
    if (count->until_failure > 0)
      --count->until_failure;
    ++count->live;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --count->live;
    std::allocator<T>().deallocate(p, n);
  }
  friend bool operator==(const counting_allocator& a, const counting_allocator& b) {
    return a.count == b.count;
  }
  allocation_count* count;
};

/// Every kind of socket operation, on objects none of which lets it end by itself.
class everything {
 public:
  explicit everything(weft::io_context& context, std::shared_ptr<void> keep = {})
      : full(context),
        acceptor(context, tcp::endpoint(weft::ip::address_v4::loopback(), 0)),
        reader(context),
        writer(context),
        reader_peer(context),
        writer_peer(context),
        connecting(context),
        raced(context),
        accepted(context),
        datagrams(context, udp::endpoint(weft::ip::address_v4::loopback(), 0)),
        kept(std::move(keep)) {
    weft::local::connect_pair(reader, reader_peer);
    weft::local::connect_pair(writer, writer_peer);
    writer.non_blocking(true);
    error_code ec;
    while (!ec)
      writer.write_some(buffer(data), ec);
    char name[] = "/tmp/weft-faults-XXXXXX";
    file = ::mkstemp(name);
    ::unlink(name);
    if (::write(file, data.data(), data.size()) < 0)
      throw std::runtime_error("no file");
  }
  ~everything() { ::close(file); }

  template <class MakeHandler>
  std::vector<std::function<void()>> starts(MakeHandler make) {
    return {
        [=, this] { reader.async_read_some(buffer(data), make()); },
        [=, this] { reader.async_read_some(two_buffers, make()); },
        [=, this] { reader.async_wait(reader.wait_read, make()); },
        [=, this] { writer.async_write_some(buffer(data), make()); },
        [=, this] { writer.async_write_some(two_buffers, make()); },
        [=, this] { writer.async_wait(writer.wait_write, make()); },
        [=, this] { writer.async_wait(writer.wait_error, make()); },
        [=, this] { weft::async_sendfile(writer, file, 0, 100, make()); },
        [=, this] { weft::async_send_zero_copy(writer, buffer(data), make()); },
        [=, this] { weft::async_send_descriptors(writer, std::array{file}, buffer(data), make()); },
        [=, this] { weft::async_receive_descriptors(reader, room, buffer(data), make()); },
        [=, this] { acceptor.async_accept(make()); },
        [=, this] { acceptor.async_accept(accepted, make()); },
        [=, this] { connecting.async_connect(full.endpoint(), make()); },
        [=, this] { datagrams.async_receive_from(buffer(data), sender, make()); },
        [=, this] { datagrams.async_receive(two_buffers, make()); },
        [=, this] {
          weft::async_connect_happy_eyeballs(raced, std::vector<tcp::endpoint>{full.endpoint()},
                                             make());
        },
    };
  }

  full_acceptor full;
  tcp::acceptor acceptor;
  unix_stream::socket reader, writer, reader_peer, writer_peer;
  tcp::socket connecting, raced, accepted;
  udp::socket datagrams;
  udp::endpoint sender;
  std::string data = std::string(4096, 'x');
  std::array<weft::mutable_buffer, 2> two_buffers{buffer(data), buffer(data)};
  std::array<int, 2> room{};
  int file = -1;
  std::shared_ptr<void> kept;
};

class socket_faults : public socket_test {};

TEST_P(socket_faults, context_goes_with_every_kind_of_operation_pending) {
  auto mark = std::make_shared<int>();
  {
    weft::io_context other(make_context_options(GetParam()));
    auto all = std::make_shared<everything>(other, mark);
    // The handlers own the very objects they wait on.
    for (auto& start : all->starts([all] { return [all](auto&&...) { FAIL(); }; }))
      start();
    other.poll();
  }
  EXPECT_EQ(mark.use_count(), 1);
}

TEST_P(socket_faults, closing_ends_every_kind_of_operation) {
  int ended = 0;
  auto all = std::make_unique<everything>(context);
  const auto starts = all->starts([&] {
    return [&](error_code ec, auto&&...) { ended += ec == weft::error::operation_aborted; };
  });
  for (const auto& start : starts)
    start();
  context.poll();
  EXPECT_EQ(ended, 0);
  // All but the race, which has sockets of its own.
  error_code ec;
  all->reader.close(ec);
  all->writer.close(ec);
  all->acceptor.close(ec);
  all->connecting.close(ec);
  all->datagrams.close(ec);
  context.restart();
  while (ended != static_cast<int>(starts.size()) - 1)
    ASSERT_NE(context.run_one(), 0u);
}

TEST_P(socket_faults, failed_allocation_leaves_the_initiating_function_and_nothing_behind) {
  everything all(context);
  allocation_count count;
  int called = 0;
  const auto starts = all.starts([&] {
    return weft::bind_allocator(counting_allocator<void>(count), [&](auto&&...) { ++called; });
  });
  for (const auto& start : starts) {
    count.until_failure = 0;
    EXPECT_THROW(start(), std::bad_alloc);
    EXPECT_EQ(count.live, 0);
  }
  context.poll();
  EXPECT_EQ(called, 0);
  EXPECT_TRUE(all.reader.is_open());
}

TEST_P(socket_faults, race_that_runs_out_of_memory_at_any_point_is_abandoned) {
  full_acceptor full(context);
  const std::vector<tcp::endpoint> endpoints{full.endpoint(), full.endpoint()};
  for (int n = 0; n != 3; ++n) {
    tcp::socket raced(context);
    allocation_count count;
    count.until_failure = n;
    int called = 0;
    EXPECT_THROW(weft::async_connect_happy_eyeballs(
                     raced, endpoints,
                     weft::bind_allocator(counting_allocator<void>(count),
                                          [&](error_code, tcp::endpoint) { ++called; })),
                 std::bad_alloc);
    run();
    EXPECT_EQ(called, 0);
    EXPECT_EQ(count.live, 0);
  }
}

TEST_P(socket_faults, memory_comes_from_the_handlers_allocator_and_is_back_before_it_runs) {
  auto [a, b] = tcp_pair();
  allocation_count count;
  std::string got(8, '\0');
  int calls = 0;
  const auto check = [&](error_code ec, auto&&...) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(count.live, 0);
    ++calls;
  };
  const counting_allocator<void> allocator(count);
  b.async_read_some(buffer(got), weft::bind_allocator(allocator, check));
  EXPECT_EQ(count.live, 1);
  a.write_some(buffer("x", 1));
  run();
  a.async_write_some(buffer("x", 1), weft::bind_allocator(allocator, check));
  run();
  tcp::acceptor acceptor(context, loopback());
  tcp::socket client(context), raced(context);
  client.async_connect(acceptor.local_endpoint(), weft::bind_allocator(allocator, check));
  run();
  acceptor.async_accept(weft::bind_allocator(allocator, check));
  run();
  weft::async_connect_happy_eyeballs(raced, std::vector<tcp::endpoint>{acceptor.local_endpoint()},
                                     weft::bind_allocator(allocator, check));
  run();
  EXPECT_EQ(calls, 5);
}

TEST_P(socket_faults, handler_that_throws_leaves_run_and_loses_nothing_else) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer second;
  b.async_read_some(buffer(got, 1), [](error_code, std::size_t) { throw std::runtime_error("x"); });
  b.async_read_some(buffer(got), second.handler());
  a.write_some(buffer("xy", 2));
  context.restart();
  EXPECT_THROW(context.run(), std::runtime_error);
  run();
  EXPECT_FALSE(second.ec());
  EXPECT_EQ(second.bytes(), 1u);
}

TEST_P(socket_faults, interrupted_calls_go_on) {
  // A signal every millisecond, whose handler makes system calls fail with EINTR.
  struct sigaction action{};
  action.sa_handler = [](int) {};
  struct sigaction before{};
  ::sigaction(SIGALRM, &action, &before);
  itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  {
    auto [a, b] = tcp_pair();
    std::string got(1 << 20, '\0');
    std::thread writer([&, &peer = a] {
      const std::string piece(1 << 16, 'x');
      for (int i = 0; i != 16; ++i) {
        std::size_t sent = 0;
        while (sent != piece.size())
          sent += peer.write_some(buffer(piece.data() + sent, piece.size() - sent));
      }
    });
    std::size_t read = 0;
    while (read < got.size() / 2)
      read += b.read_some(buffer(got));
    while (read < got.size()) {
      transfer received;
      b.async_read_some(buffer(got), received.handler());
      run();
      ASSERT_FALSE(received.ec());
      read += received.bytes();
    }
    writer.join();
    EXPECT_EQ(read, got.size());
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

// ---- threads

/// Echoes what comes until the peer has finished.
struct echo : std::enable_shared_from_this<echo> {
  explicit echo(tcp::socket s) : socket(std::move(s)) {}
  void read() {
    socket.async_read_some(buffer(data), [self = shared_from_this()](error_code ec, std::size_t n) {
      if (!ec)
        self->write(0, n);
    });
  }
  void write(std::size_t from, std::size_t to) {
    if (from == to)
      return read();
    socket.async_write_some(buffer(data.data() + from, to - from),
                            [self = shared_from_this(), from, to](error_code ec, std::size_t n) {
                              if (!ec)
                                self->write(from + n, to);
                            });
  }
  tcp::socket socket;
  std::array<char, 512> data{};
};

/// Sends numbered messages and checks what comes back.
struct client : std::enable_shared_from_this<client> {
  client(weft::io_context& context, std::atomic<int>& total, int n)
      : socket(context), checked(total), left(n) {}
  void next() {
    if (left-- == 0)
      return socket.close();
    text = "message " + std::to_string(left);
    socket.async_write_some(buffer(text), [self = shared_from_this()](error_code ec, std::size_t) {
      ASSERT_FALSE(ec);
      self->got.assign(self->text.size(), '\0');
      self->read(0);
    });
  }
  void read(std::size_t from) {
    socket.async_read_some(buffer(got.data() + from, got.size() - from),
                           [self = shared_from_this(), from](error_code ec, std::size_t n) {
                             ASSERT_FALSE(ec);
                             if (from + n != self->got.size())
                               return self->read(from + n);
                             EXPECT_EQ(self->got, self->text);
                             ++self->checked;
                             self->next();
                           });
  }
  tcp::socket socket;
  std::atomic<int>& checked;
  int left;
  std::string text, got;
};

void echo_among(weft::io_context& context, int connections, int messages, int threads) {
  tcp::acceptor acceptor(context, tcp::endpoint(weft::ip::address_v4::loopback(), 0));
  int accepted = 0;
  std::function<void()> accept = [&] {
    acceptor.async_accept([&](error_code ec, tcp::socket s) {
      ASSERT_FALSE(ec);
      std::make_shared<echo>(std::move(s))->read();
      if (++accepted != connections)
        accept();
    });
  };
  accept();
  std::atomic<int> checked{0};
  for (int i = 0; i != connections; ++i) {
    auto c = std::make_shared<client>(context, checked, messages);
    c->socket.async_connect(acceptor.local_endpoint(), [c](error_code ec) {
      ASSERT_FALSE(ec);
      c->next();
    });
  }
  std::vector<std::thread> helpers;
  for (int i = 1; i != threads; ++i)
    helpers.emplace_back([&] { context.run(); });
  context.run();
  for (std::thread& t : helpers)
    t.join();
  EXPECT_EQ(checked, connections * messages);
}

TEST_P(socket_faults, one_thread_echoes_every_byte) {
  echo_among(context, 20, 50, 1);
}

TEST_P(socket_faults, several_threads_echo_every_byte) {
  echo_among(context, 20, 50, 4);
}

TEST_P(socket_faults, context_bound_to_one_thread_echoes_every_byte) {
  weft::io_context alone({.concurrency_hint = 1, .single_thread = true, .backend = GetParam()});
  echo_among(alone, 20, 50, 1);
}

WEFT_INSTANTIATE_BACKENDS(socket_faults);

}  // namespace
