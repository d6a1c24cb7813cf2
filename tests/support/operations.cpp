// SPDX-License-Identifier: BSL-1.0
#include "support/operations.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include <weft/io/buffered_read_stream.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/fs.hpp>
#include <weft/io/process.hpp>
#include <weft/io/random_access_file.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_at.hpp>
#include <weft/io/read_until.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/serial_port.hpp>
#include <weft/io/signal_set.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/stream_descriptor.hpp>
#include <weft/io/stream_file.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>
#include <weft/io/write_at.hpp>
#include <weft/net/accept_stream.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/descriptor_passing.hpp>
#include <weft/net/happy_eyeballs.hpp>
#include <weft/net/local.hpp>
#include <weft/net/receive_stream.hpp>
#include <weft/net/resolver_options.hpp>
#include <weft/net/sendfile.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>

#include "support/temporary_directory.hpp"
#include "unit/net/full_acceptor.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;
using udp = weft::ip::udp;
using weft::io_context;

const tcp::endpoint any_port(weft::ip::address_v4::loopback(), 0);

template <class Socket>
void fill(Socket& s) {
  const std::vector<char> bytes(1 << 16);
  error_code ec;
  const bool mode = s.non_blocking();
  s.non_blocking(true);
  while (!ec)
    s.write_some(buffer(bytes), ec);
  s.non_blocking(mode);
}

template <class Socket>
void drain(Socket& s) {
  std::vector<char> bytes(1 << 16);
  error_code ec;
  const bool mode = s.non_blocking();
  s.non_blocking(true);
  while (!ec)
    s.read_some(buffer(bytes), ec);
  s.non_blocking(mode);
}

/// Two connected sockets; operations are on the first.
struct on_pair : operation_case {
  explicit on_pair(io_context& c) : a(c), b(c) { weft::local::connect_pair(a, b); }
  void cancel() override { a.cancel(); }
  void close() override { a.close(); }
  void say(std::string_view text) { b.write_some(buffer(text)); }

  unix_stream::socket a, b;
};

struct on_reading_pair : on_pair {
  using on_pair::on_pair;
  void satisfy() override { say("x"); }

  std::array<char, 64> data{};
};

struct stream_read : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override { a.async_read_some(buffer(data), std::move(p)); }
};

struct stream_wait_read : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override {
    if (a.is_open())
      drain(a);
    a.async_wait(a.wait_read, std::move(p));
  }
};

struct stream_read_of_two_buffers : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override {
    const std::array<weft::mutable_buffer, 2> two{buffer(data.data(), 3),
                                                  buffer(data.data() + 3, 9)};
    a.async_receive(two, 0, std::move(p));
  }
};

struct read_whole : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override { weft::async_read(a, buffer(data, 8), std::move(p)); }
  void satisfy() override { say("12345678"); }
};

struct read_line : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override {
    text.clear();
    weft::async_read_until(a, weft::dynamic_buffer(text), '\n', std::move(p));
  }
  void satisfy() override { say("line\n"); }

  std::string text;
};

struct buffered_read : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override { stream.async_read_some(buffer(data), std::move(p)); }

  weft::buffered_read_stream<unix_stream::socket&> stream{a};
};

struct read_with_timeout : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override {
    a.async_read_some(buffer(data), weft::cancel_after(1h, std::move(p)));
  }
};

struct descriptors_receive : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override {
    weft::async_receive_descriptors(a, std::span<int>(), buffer(data), std::move(p));
  }
};

struct receive_from_stream : on_reading_pair {
  using on_reading_pair::on_reading_pair;
  void start(probe p) override { stream.async_receive(std::move(p)); }
  void cancel() override { stream.cancel(); }
  void cease() override { stream.stop(); }

  weft::receive_stream<unix_stream::socket> stream{a};
};

struct on_full_pair : on_pair {
  using on_pair::on_pair;
  void satisfy() override { drain(b); }
  void fill_up() {
    if (a.is_open())
      fill(a);
  }
};

struct stream_write : on_full_pair {
  using on_full_pair::on_full_pair;
  void start(probe p) override {
    fill_up();
    a.async_write_some(buffer("x", 1), std::move(p));
  }
};

struct stream_wait_write : on_full_pair {
  using on_full_pair::on_full_pair;
  void start(probe p) override {
    fill_up();
    a.async_wait(a.wait_write, std::move(p));
  }
};

struct descriptors_send : on_full_pair {
  using on_full_pair::on_full_pair;
  void start(probe p) override {
    fill_up();
    const int fd = 1;
    weft::async_send_descriptors(a, std::span<const int>(&fd, 1), buffer("x", 1), std::move(p));
  }
};

struct write_whole : on_full_pair {
  using on_full_pair::on_full_pair;
  void start(probe p) override {
    fill_up();
    weft::async_write(a, buffer("abcdefgh", 8), std::move(p));
  }
};

struct send_a_file : on_full_pair {
  explicit send_a_file(io_context& c)
      : on_full_pair(c), file(c, directory.file("f", "content"), weft::stream_file::read_only) {}
  void start(probe p) override {
    fill_up();
    weft::async_sendfile(a, file, 0, 7, std::move(p));
  }

  temporary_directory directory;
  weft::random_access_file file;
};

struct record_receive : operation_case {
  explicit record_receive(io_context& c) : a(c), b(c) { weft::local::connect_pair(a, b); }
  void start(probe p) override { a.async_receive(buffer(data), flags, std::move(p)); }
  void satisfy() override { b.send(buffer("x", 1), 0); }
  void cancel() override { a.cancel(); }
  void close() override { a.close(); }

  weft::local::seq_packet_protocol::socket a, b;
  weft::socket_base::message_flags flags = 0;
  std::array<char, 8> data{};
};

struct on_tcp_pair : operation_case {
  explicit on_tcp_pair(io_context& c) : a(c), b(c) {
    tcp::acceptor acceptor(c, any_port);
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
  }
  void cancel() override { a.cancel(); }
  void close() override { a.close(); }

  tcp::socket a, b;
};

struct tcp_receive_from_stream : on_tcp_pair {
  using on_tcp_pair::on_tcp_pair;
  void start(probe p) override { stream.async_receive(std::move(p)); }
  void satisfy() override { b.write_some(buffer("x", 1)); }
  void cancel() override { stream.cancel(); }
  void cease() override { stream.stop(); }

  weft::receive_stream<tcp::socket> stream{a};
};

struct tcp_wait_error : on_tcp_pair {
  using on_tcp_pair::on_tcp_pair;
  void start(probe p) override {
    error_code ec;
    char urgent;
    if (a.is_open())
      a.receive(buffer(&urgent, 1), tcp::socket::message_out_of_band, ec);
    a.async_wait(a.wait_error, std::move(p));
  }
  void satisfy() override { b.send(buffer("!", 1), tcp::socket::message_out_of_band); }
};

struct datagram_receive : operation_case {
  explicit datagram_receive(io_context& c)
      : a(c, udp::endpoint(any_port.address(), 0)), b(c, udp::endpoint(any_port.address(), 0)) {}
  void start(probe p) override { a.async_receive_from(buffer(data), from, std::move(p)); }
  void satisfy() override { b.send_to(buffer("x", 1), a.local_endpoint()); }
  void cancel() override { a.cancel(); }
  void close() override { a.close(); }

  udp::socket a, b;
  udp::endpoint from;
  std::array<char, 8> data{};
};

struct datagram_send : datagram_receive {
  using datagram_receive::datagram_receive;
  void start(probe p) override {
    a.async_send_to(buffer("x", 1), b.local_endpoint(), std::move(p));
  }
};

struct datagram_receive_batch : datagram_receive {
  using datagram_receive::datagram_receive;
  void start(probe p) override {
    batch[0].buffer = buffer(data);
    a.async_receive_batch(batch, std::move(p));
  }

  std::array<udp::socket::incoming_datagram, 1> batch;
};

struct datagram_send_batch : operation_case {
  explicit datagram_send_batch(io_context& c) : a(c), b(c) { weft::local::connect_pair(a, b); }
  void start(probe p) override {
    if (a.is_open())
      fill();
    a.async_send_batch(batch, std::move(p));
  }
  void satisfy() override {
    error_code ec;
    std::array<char, 8> data;
    b.non_blocking(true);
    while (!ec)
      b.receive(buffer(data), 0, ec);
  }
  void cancel() override { a.cancel(); }
  void close() override { a.close(); }
  void fill() {
    error_code ec;
    a.non_blocking(true);
    while (!ec)
      a.send(buffer("x", 1), 0, ec);
    a.non_blocking(false);
  }

  weft::local::datagram_protocol::socket a, b;
  std::array<weft::local::datagram_protocol::socket::outgoing_datagram, 2> batch{
      {{buffer("x", 1)}, {buffer("y", 1)}}};
};

struct on_acceptor : operation_case {
  explicit on_acceptor(io_context& context)
      : acceptor(context, any_port), where(acceptor.local_endpoint()), c(context) {}
  void satisfy() override { clients.emplace_back(c).connect(where); }
  void cancel() override { acceptor.cancel(); }
  void close() override { acceptor.close(); }

  tcp::acceptor acceptor;
  tcp::endpoint where;
  io_context& c;
  std::vector<tcp::socket> clients;
};

struct accept_new : on_acceptor {
  using on_acceptor::on_acceptor;
  void start(probe p) override { acceptor.async_accept(std::move(p)); }
};

struct accept_into : on_acceptor {
  using on_acceptor::on_acceptor;
  void start(probe p) override {
    peer.close();
    acceptor.async_accept(peer, from, std::move(p));
  }

  tcp::endpoint from;
  tcp::socket peer{c};
};

struct accept_from_stream : on_acceptor {
  using on_acceptor::on_acceptor;
  void start(probe p) override { stream.async_accept(std::move(p)); }
  void cancel() override { stream.cancel(); }
  void cease() override { stream.stop(); }

  weft::accept_stream<tcp::acceptor> stream{acceptor};
};

struct connect_at_once : on_acceptor {
  using on_acceptor::on_acceptor;
  void start(probe p) override {
    socket.close();
    socket.async_connect(where, std::move(p));
  }
  void cancel() override {
    if (socket.is_open())
      socket.cancel();
  }

  tcp::socket socket{c};
};

struct on_full_acceptor : operation_case {
  explicit on_full_acceptor(io_context& c) : full(c), socket(c) {}
  void cancel() override {
    if (socket.is_open())
      socket.cancel();
  }
  void close() override { socket.close(); }

  full_acceptor full;
  tcp::socket socket;
};

struct connect_pending : on_full_acceptor {
  using on_full_acceptor::on_full_acceptor;
  void start(probe p) override {
    socket.close();
    socket.async_connect(full.endpoint(), std::move(p));
  }
};

struct connect_range : on_full_acceptor {
  using on_full_acceptor::on_full_acceptor;
  void start(probe p) override {
    socket.close();
    weft::async_connect(socket, std::vector{full.endpoint(), full.endpoint()}, std::move(p));
  }
};

struct connect_happily : on_full_acceptor {
  using on_full_acceptor::on_full_acceptor;
  void start(probe p) override {
    weft::async_connect_happy_eyeballs(socket, std::vector{full.endpoint(), full.endpoint()}, 1h,
                                       std::move(p));
  }
};

struct timer_wait : operation_case {
  explicit timer_wait(io_context& c) : timer(c) {}
  void start(probe p) override {
    timer.expires_after(1h);
    timer.async_wait(std::move(p));
  }
  void cancel() override { timer.cancel(); }

  weft::steady_timer timer;
};

struct timer_expiry : timer_wait {
  using timer_wait::timer_wait;
  void start(probe p) override {
    timer.expires_after(1ms);
    timer.async_wait(std::move(p));
  }
};

struct on_pipe : operation_case {
  explicit on_pipe(io_context& c) : in(c), out(c) { weft::connect_pipe(in, out); }

  weft::readable_pipe in;
  weft::writable_pipe out;
  std::array<char, 8> data{};
};

struct pipe_read : on_pipe {
  using on_pipe::on_pipe;
  void start(probe p) override { in.async_read_some(buffer(data), std::move(p)); }
  void satisfy() override { out.write_some(buffer("x", 1)); }
  void cancel() override { in.cancel(); }
  void close() override { in.close(); }
};

struct pipe_write : on_pipe {
  using on_pipe::on_pipe;
  void start(probe p) override {
    if (out.is_open()) {
      const int mode = ::fcntl(out.native_handle(), F_GETFL);
      ::fcntl(out.native_handle(), F_SETFL, mode | O_NONBLOCK);
      const std::array<char, 4096> bytes{};
      while (::write(out.native_handle(), bytes.data(), bytes.size()) > 0) {}
      ::fcntl(out.native_handle(), F_SETFL, mode);
    }
    out.async_write_some(buffer("x", 1), std::move(p));
  }
  void satisfy() override {
    std::array<char, 8192> bytes;
    int available = 0;
    EXPECT_EQ(::ioctl(in.native_handle(), FIONREAD, &available), 0);
    if (available != 0) {
      EXPECT_GT(::read(in.native_handle(), bytes.data(), bytes.size()), 0);
    }
  }
  void cancel() override { out.cancel(); }
  void close() override { out.close(); }
};

struct on_eventfd : operation_case {
  explicit on_eventfd(io_context& c) : d(c, ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void satisfy() override {
    const std::uint64_t one = 1;
    d.write_some(buffer(&one, sizeof one));
  }
  void cancel() override { d.cancel(); }
  void close() override { d.close(); }

  weft::posix::stream_descriptor d;
  std::uint64_t count = 0;
};

struct descriptor_read : on_eventfd {
  using on_eventfd::on_eventfd;
  void start(probe p) override { d.async_read_some(buffer(&count, sizeof count), std::move(p)); }
};

struct descriptor_wait : on_eventfd {
  using on_eventfd::on_eventfd;
  void start(probe p) override {
    if (d.is_open() && ::read(d.native_handle(), &count, sizeof count) < 0) {
      EXPECT_EQ(errno, EAGAIN);
    }
    d.async_wait(d.wait_read, std::move(p));
  }
};

struct serial_read : operation_case {
  explicit serial_read(io_context& c) : port(c) {
    far = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[128];
    EXPECT_TRUE(far >= 0 && ::grantpt(far) == 0 && ::unlockpt(far) == 0 &&
                ::ptsname_r(far, name, sizeof name) == 0);
    port.open(name);
  }
  ~serial_read() override { ::close(far); }
  void start(probe p) override { port.async_read_some(buffer(data), std::move(p)); }
  void satisfy() override { EXPECT_EQ(::write(far, "x", 1), 1); }
  void cancel() override { port.cancel(); }
  void close() override { port.close(); }

  int far;
  weft::serial_port port;
  std::array<char, 8> data{};
};

struct signal_wait : operation_case {
  explicit signal_wait(io_context& c) : signals(c, SIGUSR2) {}
  void start(probe p) override { signals.async_wait(std::move(p)); }
  void satisfy() override { std::raise(SIGUSR2); }
  void cancel() override { signals.cancel(); }

  weft::signal_set signals;
};

struct process_wait : operation_case {
  explicit process_wait(io_context& c) : child(weft::process::spawn(c, "sleep", {"1000"})) {}
  void start(probe p) override {
    if (!child.running())
      child = weft::process::spawn(child.get_executor(), "sleep", {"1000"});
    child.async_wait(std::move(p));
  }
  void satisfy() override { child.kill(); }
  void cancel() override { child.cancel(); }

  weft::process::child child;
};

struct on_file : operation_case {
  explicit on_file(io_context& context)
      : c(context),
        path(directory.file("f", "content")),
        stream(c, path, weft::stream_file::read_write),
        random(c, path, weft::stream_file::read_write) {}
  void cancel() override {
    stream.cancel();
    random.cancel();
  }
  void close() override {
    stream.close();
    random.close();
  }

  io_context& c;
  temporary_directory directory;
  std::string path;
  weft::stream_file stream;
  weft::random_access_file random;
  std::array<char, 8> data{};
};

struct file_read : on_file {
  using on_file::on_file;
  void start(probe p) override {
    if (stream.is_open())
      stream.seek(0, weft::stream_file::seek_set);
    stream.async_read_some(buffer(data), std::move(p));
  }
};

struct file_write_at : on_file {
  using on_file::on_file;
  void start(probe p) override { random.async_write_some_at(3, buffer("x", 1), std::move(p)); }
};

struct file_read_at : on_file {
  using on_file::on_file;
  void start(probe p) override { weft::async_read_at(random, 0, buffer(data, 7), std::move(p)); }
};

struct file_write_whole_at : on_file {
  using on_file::on_file;
  void start(probe p) override {
    weft::async_write_at(random, 3, buffer("abcdefgh", 8), std::move(p));
  }
};

struct file_sync : on_file {
  using on_file::on_file;
  void start(probe p) override { weft::fs::async_fsync(stream, std::move(p)); }
};

struct path_stat : on_file {
  using on_file::on_file;
  void start(probe p) override { weft::fs::async_stat(c, path, std::move(p)); }
};

struct path_unlink : on_file {
  using on_file::on_file;
  void start(probe p) override {
    weft::fs::async_unlink(c, directory.file("gone", ""), std::move(p));
  }
};

struct file_open : on_file {
  using on_file::on_file;
  void start(probe p) override {
    weft::fs::async_open<weft::stream_file>(c, path, weft::stream_file::read_only, std::move(p));
  }
};

struct resolve_number : operation_case {
  explicit resolve_number(io_context& c) : resolver(c) {}
  void start(probe p) override { resolver.async_resolve("127.0.0.1", "80", std::move(p)); }
  void cancel() override { resolver.cancel(); }

  tcp::resolver resolver;
};

struct resolve_name : operation_case {
  explicit resolve_name(io_context& c)
      : server(c, udp::endpoint(any_port.address(), 0)), resolver(c) {
    weft::ip::resolver_options options;
    options.servers = "127.0.0.1:" + std::to_string(server.local_endpoint().port());
    options.lookups = "b";
    options.timeout = 30s;
    weft::ip::set_resolver_options(c, options);
  }
  void start(probe p) override { resolver.async_resolve("a.example.test", "80", std::move(p)); }
  void cancel() override { resolver.cancel(); }

  udp::socket server;  // never answers
  tcp::resolver resolver;
};

struct resolve_address : resolve_name {
  using resolve_name::resolve_name;
  void start(probe p) override {
    resolver.async_resolve(tcp::endpoint(weft::ip::make_address("192.0.2.1"), 80), std::move(p));
  }
};

}  // namespace

std::span<const operation_family> operation_families() {
  constexpr bool pends = true, satisfiable = true, cancels = true, no = false;
  constexpr auto closes = failure::by_close, none = failure::none;
  static const std::vector<operation_family> own{
      {"stream_read", pends, satisfiable, cancels, closes, make<stream_read>},
      {"stream_read_of_two_buffers", pends, satisfiable, cancels, closes,
       make<stream_read_of_two_buffers>},
      {"stream_wait_read", pends, satisfiable, cancels, closes, make<stream_wait_read>},
      {"stream_write", pends, satisfiable, cancels, closes, make<stream_write>},
      {"stream_wait_write", pends, satisfiable, cancels, closes, make<stream_wait_write>},
      {"receive_from_stream", pends, satisfiable, cancels, closes, make<receive_from_stream>},
      {"tcp_receive_from_stream", pends, satisfiable, cancels, closes,
       make<tcp_receive_from_stream>},
      {"descriptors_receive", pends, satisfiable, cancels, closes, make<descriptors_receive>},
      {"descriptors_send", pends, satisfiable, cancels, closes, make<descriptors_send>},
      {"record_receive", pends, satisfiable, cancels, closes, make<record_receive>},
      {"tcp_wait_error", pends, satisfiable, cancels, closes, make<tcp_wait_error>},
      {"datagram_receive", pends, satisfiable, cancels, closes, make<datagram_receive>},
      {"datagram_send", no, satisfiable, cancels, closes, make<datagram_send>},
      {"datagram_receive_batch", pends, satisfiable, cancels, closes, make<datagram_receive_batch>},
      {"datagram_send_batch", pends, satisfiable, cancels, closes, make<datagram_send_batch>},
      {"accept_new", pends, satisfiable, cancels, closes, make<accept_new>},
      {"accept_into", pends, satisfiable, cancels, closes, make<accept_into>},
      {"accept_from_stream", pends, satisfiable, cancels, closes, make<accept_from_stream>},
      {"connect_at_once", no, satisfiable, cancels, none, make<connect_at_once>},
      {"connect_pending", pends, no, cancels, none, make<connect_pending>},
      {"connect_range", pends, no, cancels, none, make<connect_range>},
      {"connect_happily", pends, no, no, none, make<connect_happily>},
      {"timer_wait", pends, no, cancels, none, make<timer_wait>},
      {"timer_expiry", no, satisfiable, cancels, none, make<timer_expiry>},
      {"pipe_read", pends, satisfiable, cancels, closes, make<pipe_read>},
      {"pipe_write", pends, satisfiable, cancels, closes, make<pipe_write>},
      {"descriptor_read", pends, satisfiable, cancels, closes, make<descriptor_read>},
      {"descriptor_wait", pends, satisfiable, cancels, closes, make<descriptor_wait>},
      {"serial_read", pends, satisfiable, cancels, closes, make<serial_read>},
      {"signal_wait", pends, satisfiable, cancels, none, make<signal_wait>},
      {"process_wait", pends, satisfiable, cancels, none, make<process_wait>},
      {"file_read", no, satisfiable, cancels, closes, make<file_read>},
      {"file_write_at", no, satisfiable, cancels, closes, make<file_write_at>},
      {"file_read_at", no, satisfiable, cancels, closes, make<file_read_at>},
      {"file_write_whole_at", no, satisfiable, cancels, closes, make<file_write_whole_at>},
      {"file_sync", no, satisfiable, cancels, closes, make<file_sync>},
      {"path_stat", no, satisfiable, no, none, make<path_stat>},
      {"path_unlink", no, satisfiable, no, none, make<path_unlink>},
      {"file_open", no, satisfiable, no, none, make<file_open>},
      {"resolve_number", no, satisfiable, cancels, none, make<resolve_number>},
      {"resolve_name", pends, no, cancels, none, make<resolve_name>},
      {"resolve_address", pends, no, cancels, none, make<resolve_address>},
      {"read_whole", pends, satisfiable, cancels, closes, make<read_whole>},
      {"read_line", pends, satisfiable, cancels, closes, make<read_line>},
      {"buffered_read", pends, satisfiable, cancels, closes, make<buffered_read>},
      {"read_with_timeout", pends, satisfiable, cancels, closes, make<read_with_timeout>},
      {"write_whole", pends, satisfiable, cancels, closes, make<write_whole>},
      {"send_a_file", pends, satisfiable, cancels, closes, make<send_a_file>},
  };
  static const std::vector<operation_family> families = [] {
    std::vector<operation_family> all = own;
    for (const auto more :
         {sync_operation_families(), channel_operation_families(), coro_operation_families()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return families;
}

}  // namespace weft_test
