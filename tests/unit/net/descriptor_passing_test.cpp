// SPDX-License-Identifier: BSL-1.0
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_seq_packet_socket.hpp>
#include <weft/net/descriptor_passing.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

class pipe_ends {
 public:
  pipe_ends() { EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0); }
  ~pipe_ends() {
    ::close(fds[0]);
    ::close(fds[1]);
  }
  int fds[2];
};

int open_descriptors() {
  DIR* dir = ::opendir("/proc/self/fd");
  int n = 0;
  while (::readdir(dir))
    ++n;
  ::closedir(dir);
  return n;
}

using descriptor_passing = socket_test;
using received = outcome<error_code, std::size_t, std::size_t>;

TEST_P(descriptor_passing, received_descriptor_leads_to_the_same_file) {
  auto [a, b] = unix_pair();
  pipe_ends pipe;
  transfer sent;
  received got;
  std::array<int, 4> room{-1, -1, -1, -1};
  std::string text(8, '\0');
  weft::async_receive_descriptors(b, room, buffer(text), got.handler());
  weft::async_send_descriptors(a, std::array{pipe.fds[1]}, buffer("take", 4), sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_FALSE(got.ec());
  EXPECT_EQ(got.bytes(), 4u);
  ASSERT_EQ(std::get<2>(*got.results), 1u);
  EXPECT_NE(room[0], pipe.fds[1]);
  EXPECT_NE(::fcntl(room[0], F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(::write(room[0], "x", 1), 1);
  char c = 0;
  EXPECT_EQ(::read(pipe.fds[0], &c, 1), 1);
  ::close(room[0]);
}

TEST_P(descriptor_passing, excess_descriptors_are_closed) {
  auto [a, b] = unix_pair();
  pipe_ends pipe;
  const int before = open_descriptors();
  const std::array<int, 3> three{pipe.fds[0], pipe.fds[1], pipe.fds[0]};
  EXPECT_EQ(weft::send_descriptors(a, three, buffer("abc", 3)), 3u);
  std::array<int, 1> room{-1};
  std::string text(8, '\0');
  const weft::received_descriptors got = weft::receive_descriptors(b, room, buffer(text));
  EXPECT_EQ(got.bytes, 3u);
  EXPECT_EQ(got.count, 1u);
  EXPECT_EQ(open_descriptors(), before + 1);
  ::close(room[0]);
}

TEST_P(descriptor_passing, records_and_datagrams_carry_them_too) {
  pipe_ends pipe;
  std::array<int, 2> room{-1, -1};
  std::string text(8, '\0');
  weft::local::datagram_protocol::socket a(context), b(context);
  weft::local::connect_pair(a, b);
  weft::send_descriptors(a, pipe.fds, buffer("d", 1));
  EXPECT_EQ(weft::receive_descriptors(b, room, buffer(text)).count, 2u);
  ::close(room[0]);
  ::close(room[1]);
  weft::local::seq_packet_protocol::socket c(context), d(context);
  weft::local::connect_pair(c, d);
  weft::send_descriptors(c, pipe.fds, buffer("s", 1));
  EXPECT_EQ(weft::receive_descriptors(d, room, buffer(text)).count, 2u);
  ::close(room[0]);
  ::close(room[1]);
}

TEST_P(descriptor_passing, stream_without_a_byte_and_too_many_are_refused) {
  auto [a, b] = unix_pair();
  pipe_ends pipe;
  transfer empty, many, closed_one;
  weft::async_send_descriptors(a, pipe.fds, weft::const_buffer(), empty.handler());
  const std::vector<int> lots(254, pipe.fds[0]);
  weft::async_send_descriptors(a, lots, buffer("x", 1), many.handler());
  weft::async_send_descriptors(a, std::array{-1}, buffer("x", 1), closed_one.handler());
  run();
  EXPECT_EQ(empty.ec(), weft::error::invalid_argument);
  EXPECT_EQ(many.ec(), weft::error::invalid_argument);
  EXPECT_EQ(closed_one.ec(), weft::error::bad_descriptor);
  const std::vector<int> most(253, pipe.fds[0]);
  std::vector<int> room(253, -1);
  std::string text(8, '\0');
  weft::send_descriptors(a, most, buffer("x", 1));
  EXPECT_EQ(weft::receive_descriptors(b, room, buffer(text)).count, 253u);
  for (const int fd : room)
    ::close(fd);
}

TEST_P(descriptor_passing, plain_reads_drop_descriptors_and_go_on) {
  auto [a, b] = unix_pair();
  pipe_ends pipe;
  const int before = open_descriptors();
  weft::send_descriptors(a, pipe.fds, buffer("one", 3));
  a.write_some(buffer("two", 3));
  std::string all, text(64, '\0');
  while (all.size() < 6) {
    transfer part;
    b.async_read_some(buffer(text), part.handler());
    run();
    ASSERT_FALSE(part.ec());
    all += text.substr(0, part.bytes());
  }
  EXPECT_EQ(all, "onetwo");
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(descriptor_passing, end_of_the_stream_is_eof) {
  auto [a, b] = unix_pair();
  a.close();
  received got;
  std::string text(8, '\0');
  weft::async_receive_descriptors(b, std::span<int>(), buffer(text), got.handler());
  run();
  EXPECT_EQ(got.ec(), weft::error::eof);
}

TEST_P(descriptor_passing, undelivered_descriptors_are_closed_with_the_context) {
  pipe_ends pipe;
  const int before = open_descriptors();
  {
    weft::io_context other(make_context_options(GetParam()));
    auto pair = std::make_shared<std::pair<unix_stream::socket, unix_stream::socket>>(other, other);
    weft::local::connect_pair(pair->first, pair->second);
    auto text = std::make_shared<std::string>(8, '\0');
    weft::send_descriptors(pair->first, pipe.fds, buffer("x", 1));
    static std::array<int, 2> room;
    weft::async_receive_descriptors(pair->second, room, buffer(*text),
                                    [pair, text](error_code, std::size_t, std::size_t) { FAIL(); });
  }
  EXPECT_EQ(open_descriptors(), before);
}

WEFT_INSTANTIATE_BACKENDS(descriptor_passing);

}  // namespace
