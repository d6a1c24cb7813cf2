// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/context/post.hpp>
#include <weft/io/buffer_registration.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/random_access_file.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/stream_descriptor.hpp>
#include <weft/io/stream_file.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>
#include <weft/net/basic_seq_packet_socket.hpp>
#include <weft/net/udp.hpp>

#include "io/io_driver.hpp"
#include "io/op/quiet_write.hpp"
#include "support/child.hpp"
#include "support/temporary_directory.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

std::uint64_t fixed_transfers(weft::execution_context& context) {
  return weft::detail::use_io_driver(context).fixed_transfers();
}

/// Operations on registered buffers. On io_uring it is counted how many of them went by what the
/// kernel knows of the buffer; on epoll none can.
class registered_io : public socket_test {
 protected:
  using block = std::array<char, 4096>;

  bool uring() const { return GetParam() == weft::backend_kind::uring; }

  /// Of `reads` and `writes` on registered memory, how many go as such. Writes to a file count as
  /// reads; others depend on the kernel.
  std::uint64_t expected(std::uint64_t reads, std::uint64_t writes = 0) const {
    return uring() ? reads + (weft::detail::quiet_write_flag_known() ? writes : 0) : 0;
  }
  std::uint64_t counted() { return fixed_transfers(context); }

  /// Runs `f` in a child of a fork, which is told to the context, after `first` in the parent; true
  /// if it returned true.
  bool in_child(const std::function<bool()>& f, const std::function<void()>& first = [] {}) {
    int start[2];
    if (::pipe(start) != 0)
      return false;
    const pid_t child = weft_test::start_told_child(
        [&] {
          char go = 0;
          return ::read(start[0], &go, 1) == 1 && f();
        },
        context);
    first();
    EXPECT_EQ(::write(start[1], "g", 1), 1);
    ::close(start[0]);
    ::close(start[1]);
    return weft_test::has_succeeded(child);
  }

  /// Sends `from` through a pair of connected streams into `to`.
  template <class Writer, class Reader, class From, class To>
  void pass(Writer& writer, Reader& reader, const From& from, const To& to) {
    transfer written, read;
    reader.async_read_some(to, read.handler());
    context.restart();
    context.poll();
    EXPECT_EQ(read.calls, 0);
    writer.async_write_some(from, written.handler());
    run();
    EXPECT_FALSE(written.ec()) << written.ec().message();
    EXPECT_FALSE(read.ec()) << read.ec().message();
    EXPECT_EQ(written.bytes(), from.size());
    EXPECT_EQ(read.bytes(), from.size());
    EXPECT_TRUE(std::equal(static_cast<const char*>(from.data()),
                           static_cast<const char*>(from.data()) + read.bytes(),
                           static_cast<const char*>(to.data())));
  }

  static void fill(block& b) {
    for (std::size_t i = 0; i != b.size(); ++i)
      b[i] = static_cast<char>(i * 7 + 1);
  }

  registered_io() {
    fill(source);
    target.fill('.');
  }

  block source;
  block target;
  const std::array<weft::mutable_buffer, 2> both{buffer(source), buffer(target)};
};

TEST_P(registered_io, tcp_sockets_transfer_them) {
  auto [a, b] = tcp_pair();
  const auto registration = weft::register_buffers(context, both);
  pass(a, b, registration[0], registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, unix_sockets_transfer_them) {
  auto [a, b] = unix_pair();
  const auto registration = weft::register_buffers(context, both);
  pass(a, b, weft::const_registered_buffer(registration[0]), registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, sockets_in_non_blocking_mode_wait_as_well) {
  auto [a, b] = tcp_pair();
  a.non_blocking(true);
  b.non_blocking(true);
  const auto registration = weft::register_buffers(context, both);
  pass(a, b, registration[0], registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, datagrams_and_records_keep_their_bounds) {
  using udp = weft::ip::udp;
  udp::socket a(context, udp::endpoint(weft::ip::address_v4::loopback(), 0));
  udp::socket b(context, udp::endpoint(weft::ip::address_v4::loopback(), 0));
  a.connect(b.local_endpoint());
  b.connect(a.local_endpoint());
  const auto registration = weft::register_buffers(context, both);
  transfer sent, received, empty;
  b.async_receive(registration[1], received.handler());
  a.async_send(buffer(registration[0], 5), sent.handler());
  run();
  EXPECT_EQ(sent.bytes(), 5u);
  EXPECT_EQ(received.bytes(), 5u);
  a.send(buffer("", 0));
  b.async_receive(registration[1], empty.handler());
  run();
  EXPECT_FALSE(empty.ec());
  EXPECT_EQ(empty.bytes(), 0u);

  weft::local::seq_packet_protocol::socket c(context), d(context);
  weft::local::connect_pair(c, d);
  transfer record_sent, record;
  int flags = 0;
  d.async_receive(registration[1], flags, record.handler());
  c.async_send(buffer(registration[0], 7), 0, record_sent.handler());
  run();
  EXPECT_EQ(record_sent.bytes(), 7u);
  EXPECT_EQ(record.bytes(), 7u);
}

TEST_P(registered_io, flags_are_honoured) {
  auto [a, b] = tcp_pair();
  const auto registration = weft::register_buffers(context, both);
  a.write_some(buffer("xyz", 3));
  transfer peeked, received;
  b.async_receive(registration[1], tcp::socket::message_peek, peeked.handler());
  run();
  EXPECT_EQ(peeked.bytes(), 3u);
  EXPECT_EQ(counted(), 0u);
  b.async_receive(registration[1], received.handler());
  run();
  EXPECT_EQ(received.bytes(), 3u);
  EXPECT_EQ(counted(), expected(1));
}

TEST_P(registered_io, pipes_transfer_them) {
  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  weft::connect_pipe(in, out);
  const auto registration = weft::register_buffers(context, both);
  pass(out, in, registration[0], registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, files_transfer_them_at_an_offset_and_at_their_position) {
  temporary_directory folder;
  const auto registration = weft::register_buffers(context, both);
  weft::random_access_file file(context, folder / "a",
                                weft::file_base::create | weft::file_base::read_write);
  transfer written, read, appended, again;
  file.async_write_some_at(100, registration[0], written.handler());
  run();
  EXPECT_EQ(written.bytes(), source.size());
  file.async_read_some_at(100, registration[1], read.handler());
  run();
  EXPECT_EQ(read.bytes(), source.size());
  EXPECT_EQ(source, target);
  EXPECT_EQ(counted(), expected(2));

  weft::stream_file stream(context, folder / "b",
                           weft::file_base::create | weft::file_base::read_write);
  stream.async_write_some(buffer(registration[0], 1000), appended.handler());
  run();
  EXPECT_EQ(appended.bytes(), 1000u);
  EXPECT_EQ(stream.seek(0, weft::file_base::seek_cur), 1000u);
  stream.seek(500, weft::file_base::seek_set);
  target.fill('.');
  stream.async_read_some(registration[1], again.handler());
  run();
  EXPECT_EQ(again.bytes(), 500u);
  EXPECT_TRUE(std::equal(source.begin() + 500, source.begin() + 1000, target.begin()));
  EXPECT_EQ(counted(), expected(4));
}

TEST_P(registered_io, a_terminal_reads_into_them_as_into_ordinary_buffers) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  weft::posix::stream_descriptor terminal(context,
                                          ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const auto registration = weft::register_buffers(context, both);
  transfer read;
  terminal.async_read_some(registration[1], read.handler());
  context.poll();
  EXPECT_EQ(read.calls, 0);
  EXPECT_EQ(::write(master, "line\n", 5), 5);
  run();
  EXPECT_FALSE(read.ec()) << read.ec().message();
  EXPECT_EQ(std::string(target.data(), read.bytes()), "line\n");
  ::close(master);
}

TEST_P(registered_io, parts_leave_the_rest_alone) {
  auto [a, b] = tcp_pair();
  const auto registration = weft::register_buffers(context, both);
  pass(a, b, buffer(registration[0] + 1000, 10), registration[1] + 2000);
  EXPECT_EQ(target[1999], '.');
  EXPECT_EQ(target[2010], '.');
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, algorithms_use_them_part_by_part) {
  auto [a, b] = tcp_pair();
  const auto registration = weft::register_buffers(context, both);
  transfer read, first, second;
  weft::async_read(b, registration[1], read.handler());
  weft::async_write(a, buffer(registration[0], 1000), first.handler());
  run_until_done(first);
  context.restart();
  while (counted() != expected(1, 1) && context.run_one() != 0) {}
  weft::async_write(a, registration[0] + 1000, second.handler());
  run();
  EXPECT_EQ(read.bytes(), target.size());
  EXPECT_EQ(source, target);
  EXPECT_GE(counted(), expected(2, 2));
}

// After the registration another page is put where the registered one was: what the kernel knows by
// its registration is still the first, which a second mapping shows.
TEST_P(registered_io, the_kernel_writes_to_the_memory_it_was_told_of) {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const int memory = ::memfd_create("registered", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(memory, static_cast<off_t>(size)), 0);
  const auto map = [&](void* at, int flags, int fd) {
    return static_cast<char*>(::mmap(at, size, PROT_READ | PROT_WRITE, flags, fd, 0));
  };
  char* registered = map(nullptr, MAP_SHARED, memory);
  const char* shown = map(nullptr, MAP_SHARED, memory);
  const auto registration = weft::register_buffers(context, buffer(registered, size));
  map(registered, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
  auto [a, b] = tcp_pair();
  transfer received;
  b.async_read_some(registration[0], received.handler());
  a.write_some(buffer("hello", 5));
  run();
  EXPECT_EQ(received.bytes(), 5u);
  EXPECT_EQ(std::string(uring() ? shown : registered, 5), "hello");
  EXPECT_EQ((uring() ? registered : shown)[0], '\0');
}

TEST_P(registered_io, every_buffer_of_a_registration_is_known) {
  std::array<block, 100> blocks;
  std::vector<weft::mutable_buffer> buffers;
  for (block& one : blocks)
    buffers.push_back(buffer(one));
  const auto registration = weft::register_buffers(context, buffers);
  auto [a, b] = tcp_pair();
  for (std::size_t i = 0; i != blocks.size(); ++i) {
    fill(blocks[i]);
    blocks[i][0] = static_cast<char>(i);
    pass(a, b, registration[i], registration[(i + 1) % blocks.size()]);
  }
  EXPECT_EQ(counted(), expected(blocks.size(), blocks.size()));
}

TEST_P(registered_io, buffers_that_the_table_has_no_room_for_are_ordinary) {
  std::vector<char> bytes(3000, 'x');
  std::vector<weft::mutable_buffer> buffers;
  for (char& one : bytes)
    buffers.push_back(buffer(&one, 1));
  const auto registration = weft::register_buffers(context, buffers);
  auto [a, b] = tcp_pair();
  pass(a, b, registration[0], registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
  pass(a, b, registration[2998], registration[2999]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, empty_buffers_are_ordinary) {
  const std::array<weft::mutable_buffer, 3> some{buffer(source), weft::mutable_buffer(),
                                                 buffer(target)};
  const auto registration = weft::register_buffers(context, some);
  auto [a, b] = tcp_pair();
  transfer nothing;
  b.async_read_some(registration[1], nothing.handler());
  run();
  EXPECT_FALSE(nothing.ec());
  EXPECT_EQ(nothing.bytes(), 0u);
  pass(a, b, registration[0], registration[2]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, after_the_registration_they_are_ordinary_buffers) {
  auto [a, b] = tcp_pair();
  weft::mutable_registered_buffer from, to;
  {
    const auto registration = weft::register_buffers(context, both);
    from = registration[0];
    to = registration[1];
  }
  pass(a, b, from, to);
  EXPECT_EQ(counted(), 0u);
}

// In a handler, the read waits for the next poll to be submitted: by then the kernel does not know
// its buffer any more.
TEST_P(registered_io, a_registration_may_end_before_the_kernel_sees_the_operation) {
  auto [a, b] = tcp_pair();
  transfer read;
  weft::post(context, [&, &reader = b] {
    const auto registration = weft::register_buffers(context, both);
    reader.async_read_some(registration[1], read.handler());
  });
  context.poll();
  a.write_some(buffer("xyz", 3));
  run();
  EXPECT_FALSE(read.ec()) << read.ec().message();
  EXPECT_EQ(std::string(target.data(), read.bytes()), "xyz");
  EXPECT_EQ(counted(), 0u);
}

TEST_P(registered_io, a_registration_may_end_under_a_pending_operation) {
  auto [a, b] = tcp_pair();
  auto [c, d] = tcp_pair();
  transfer first, second;
  {
    const auto registration = weft::register_buffers(context, both);
    b.async_read_some(registration[1], first.handler());
    context.poll();
  }
  block other;
  const auto next = weft::register_buffers(context, buffer(other));
  d.async_read_some(next[0], second.handler());
  context.restart();
  context.poll();
  a.write_some(buffer("one", 3));
  c.write_some(buffer("two", 3));
  run();
  EXPECT_EQ(first.bytes(), 3u);
  EXPECT_EQ(second.bytes(), 3u);
  EXPECT_EQ(std::string(target.data(), 3), "one");
  EXPECT_EQ(std::string(other.data(), 3), "two");
}

TEST_P(registered_io, a_second_registration_takes_effect_when_the_first_has_ended) {
  auto [a, b] = tcp_pair();
  block c;
  {
    const auto first = weft::register_buffers(context, buffer(source));
    const auto second = weft::register_buffers(context, buffer(target));
    pass(a, b, first[0], second[0]);
    EXPECT_EQ(counted(), expected(0, 1));
  }
  const auto third = weft::register_buffers(context, buffer(c));
  pass(a, b, buffer(source), third[0]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, moving_a_registration_keeps_it) {
  auto [a, b] = tcp_pair();
  using registration_type = decltype(weft::register_buffers(context, both));
  std::optional<registration_type> first(weft::register_buffers(context, both));
  registration_type second = std::move(*first);
  first.reset();
  pass(a, b, second[0], second[1]);
  EXPECT_EQ(counted(), expected(1, 1));
  registration_type third = weft::register_buffers(context, both);
  third = std::move(second);
  pass(a, b, third[0], third[1]);
  EXPECT_EQ(counted(), expected(2, 2));
}

TEST_P(registered_io, buffers_of_one_context_are_ordinary_to_another) {
  weft::io_context other{make_context_options(GetParam())};
  const auto here = weft::register_buffers(context, buffer(source));
  const auto there = weft::register_buffers(other, buffer(target));
  auto [a, b] = tcp_pair();
  pass(a, b, here[0], there[0]);
  EXPECT_EQ(counted(), expected(0, 1));
  EXPECT_EQ(fixed_transfers(other), 0u);
  pass(a, b, there[0], here[0]);
  EXPECT_EQ(counted(), expected(1, 1));
}

TEST_P(registered_io, a_context_of_one_thread_knows_them) {
  weft::io_context single({.single_thread = true, .backend = GetParam()});
  const auto registration = weft::register_buffers(single, both);
  tcp::acceptor acceptor(single, loopback());
  tcp::socket a(single);
  a.connect(acceptor.local_endpoint());
  tcp::socket b = acceptor.accept();
  transfer read, written;
  b.async_read_some(registration[1], read.handler());
  a.async_write_some(registration[0], written.handler());
  single.run();
  EXPECT_EQ(read.bytes(), source.size());
  EXPECT_EQ(source, target);
  EXPECT_EQ(fixed_transfers(single), expected(1, 1));
}

TEST_P(registered_io, cancelled_reads_report_operation_aborted) {
  auto [a, b] = tcp_pair();
  const auto registration = weft::register_buffers(context, both);
  transfer read;
  b.async_read_some(registration[1], read.handler());
  context.poll();
  b.cancel();
  run();
  EXPECT_EQ(read.ec(), weft::error::operation_aborted);
}

TEST_P(registered_io, errors_are_those_of_ordinary_buffers) {
  const auto registration = weft::register_buffers(context, both);
  {
    auto [a, b] = tcp_pair();
    b.close();
    transfer end;
    a.async_read_some(registration[1], end.handler());
    run();
    EXPECT_EQ(end.ec(), weft::error::eof);
  }
  {
    auto [a, b] = tcp_pair();
    b.set_option(tcp::socket::linger(true, 0));
    b.close();
    transfer reset;
    a.async_read_some(registration[1], reset.handler());
    run();
    EXPECT_EQ(reset.ec(), weft::error::connection_reset);
  }
  auto [c, d] = unix_pair();
  d.close();
  transfer broken, pipe_broken;
  c.async_write_some(registration[0], broken.handler());
  run();
  EXPECT_EQ(broken.ec(), weft::error::broken_pipe);
  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  weft::connect_pipe(in, out);
  in.close();
  out.async_write_some(registration[0], pipe_broken.handler());
  run();
  EXPECT_EQ(pipe_broken.ec(), weft::error::broken_pipe);
}

TEST_P(registered_io, a_child_of_a_fork_has_ordinary_buffers_until_it_registers_its_own) {
  auto pair = tcp_pair();
  tcp::socket& a = pair.first;
  tcp::socket& b = pair.second;
  const auto registration = weft::register_buffers(context, both);
  transfer pending;
  b.async_read_some(registration[1], pending.handler());
  context.poll();
  const auto child = [&] {
    const std::uint64_t before = counted();
    a.write_some(buffer("xyz", 3));
    run();
    if (pending.bytes() != 3 || std::string(target.data(), 3) != "xyz" || counted() != before)
      return false;
    const auto own = weft::register_buffers(context, both);
    pass(a, b, own[0], own[1]);
    return counted() == before + expected(1, 1) && !HasFailure();
  };
  // Both read from the same socket.
  EXPECT_TRUE(in_child(child, [&] {
    b.cancel();
    run();
  }));
  EXPECT_EQ(pending.ec(), weft::error::operation_aborted);
  pass(a, b, registration[0], registration[1]);
  EXPECT_EQ(counted(), expected(1, 1));
}

// The rings, and the first buffer, are within the limit.
TEST_P(registered_io, memory_that_may_not_be_locked_is_ordinary) {
  EXPECT_TRUE(in_child([&] {
    const rlimit limit{4 << 20, 4 << 20};
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
      return false;
    // To root it does not apply.
    if (::getuid() == 0 && ::setresuid(65534, 65534, 65534) != 0)
      return false;
    weft::io_context limited{make_context_options(GetParam())};
    tcp::acceptor acceptor(limited, loopback());
    tcp::socket a(limited);
    a.connect(acceptor.local_endpoint());
    tcp::socket b = acceptor.accept();
    std::vector<char> large(16 << 20);
    const std::array<weft::mutable_buffer, 2> some{buffer(source), buffer(large)};
    const auto registration = weft::register_buffers(limited, some);
    transfer read, written;
    b.async_read_some(registration[1], read.handler());
    a.async_write_some(registration[0], written.handler());
    limited.run();
    return read.bytes() == source.size() &&
           std::equal(source.begin(), source.end(), large.begin()) &&
           fixed_transfers(limited) == expected(0, 1);
  }));
}

TEST_P(registered_io, a_handler_may_own_the_registration_that_its_context_destroys) {
  {
    weft::io_context other{make_context_options(GetParam())};
    using registration_type = decltype(weft::register_buffers(other, both));
    auto registration = std::make_shared<registration_type>(weft::register_buffers(other, both));
    auto s = std::make_shared<tcp::socket>(other);
    tcp::acceptor acceptor(other, loopback());
    s->connect(acceptor.local_endpoint());
    const weft::mutable_registered_buffer to = (*registration)[1];
    s->async_read_some(to, [s, registration](error_code, std::size_t) { FAIL(); });
    other.poll();
    weft::post(other, [registration = std::move(registration)] { FAIL(); });
  }
  SUCCEED();
}

WEFT_INSTANTIATE_BACKENDS(registered_io);

}  // namespace
