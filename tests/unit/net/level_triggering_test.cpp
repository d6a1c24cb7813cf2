// SPDX-License-Identifier: BSL-1.0
#include <sys/epoll.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>

#include "unit/net/socket_fixture.hpp"

// When epoll tells of a descriptor's level, and when of its edges.

namespace {

using namespace weft_test;

// What epoll has been told of a descriptor stands in /proc (proc(5), fdinfo).
bool is_level_triggered(int fd) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      int watched = -1;
      unsigned events = 0;
      if (std::sscanf(line.c_str(), "tfd: %d events: %x", &watched, &events) == 2 && watched == fd)
        return (events & EPOLLET) == 0;
    }
  }
  return false;
}

class level_triggering : public testing::Test {
 protected:
  /// Each read is tried before there is anything.
  template <class Socket>
  void read_early(Socket& from, Socket& to, int times) {
    for (int i = 0; i != times; ++i) {
      char byte = 0;
      transfer received;
      to.async_read_some(buffer(&byte, 1), received.handler());
      context.poll();
      EXPECT_EQ(received.calls, 0);
      from.write_some(buffer("x", 1));
      context.run_one();
      EXPECT_EQ(received.bytes(), 1u);
    }
  }

  template <class Socket>
  void begin(Socket& from, Socket& to) {
    read_early(from, to, 3);
    EXPECT_FALSE(is_level_triggered(to.native_handle()));
    read_early(from, to, 1);
    ASSERT_TRUE(is_level_triggered(to.native_handle()));
  }

  bool is_level() { return is_level_triggered(b.native_handle()); }

  void SetUp() override {
    weft::local::connect_pair(a, b);
    ASSERT_NO_FATAL_FAILURE(begin(a, b));
  }

  weft::io_context context{{.backend = weft::backend_kind::epoll}};
  weft::executor_work_guard<weft::io_context::executor_type> work = make_work_guard(context);
  unix_stream::socket a{context}, b{context};
};

TEST_F(level_triggering, stays_while_reads_are_early) {
  read_early(a, b, 8);
  EXPECT_TRUE(is_level());
}

TEST_F(level_triggering, stays_when_an_event_brings_part_of_what_is_read) {
  std::string text(4, '.');
  transfer received;
  weft::async_read(b, buffer(text), received.handler());
  for (int i = 0; i != 3; ++i) {
    a.write_some(buffer("y", 1));
    context.poll();
    EXPECT_EQ(received.calls, 0);
    EXPECT_TRUE(is_level());
  }
  a.write_some(buffer("y", 1));
  context.run_one();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(text, "yyyy");
}

TEST_F(level_triggering, stays_when_an_error_is_waited_for) {
  status failed;
  b.async_wait(unix_stream::socket::wait_error, failed.handler());
  EXPECT_TRUE(is_level());
  read_early(a, b, 1);
  EXPECT_EQ(failed.calls, 0);
}

TEST_F(level_triggering, ends_when_an_event_finds_nobody_reading) {
  a.write_some(buffer("y", 1));
  context.poll();
  EXPECT_FALSE(is_level());
  char byte = 0;
  transfer received;
  b.async_read_some(buffer(&byte, 1), received.handler());
  context.run_one();
  EXPECT_EQ(received.bytes(), 1u);
  EXPECT_EQ(byte, 'y');
}

TEST_F(level_triggering, ends_when_an_event_is_urgent_data_that_nobody_asked_for) {
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  tcp::socket from(context);
  from.connect(acceptor.local_endpoint());
  tcp::socket to = acceptor.accept();
  ASSERT_NO_FATAL_FAILURE(begin(from, to));
  char byte = 0;
  transfer received;
  to.async_read_some(buffer(&byte, 1), received.handler());
  from.send(buffer("u", 1), tcp::socket::message_out_of_band);
  to.wait(tcp::socket::wait_error);
  context.poll();
  EXPECT_EQ(received.calls, 0);
  EXPECT_FALSE(is_level_triggered(to.native_handle()));
  from.write_some(buffer("y", 1));
  context.run_one();
  EXPECT_EQ(byte, 'y');
}

TEST_F(level_triggering, ends_when_writing_has_to_wait) {
  const std::string text(4'000'000, '.');
  transfer sent, received;
  weft::async_write(b, buffer(text), sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  EXPECT_FALSE(is_level());
  char byte = 0;
  b.async_read_some(buffer(&byte, 1), received.handler());
  a.write_some(buffer("y", 1));
  context.run_one();
  EXPECT_EQ(byte, 'y');
}

TEST_F(level_triggering, begins_anew_after_as_many_early_reads_as_before) {
  a.write_some(buffer("y", 1));
  context.poll();
  char byte = 0;
  b.read_some(buffer(&byte, 1));
  ASSERT_NO_FATAL_FAILURE(begin(a, b));
}

// ---- events that outlive their descriptor

class late_event : public testing::Test {
 protected:
  using pair = std::array<tcp::socket, 2>;

  pair connect() {
    pair made{tcp::socket(context), tcp::socket(context)};
    made[0].connect(acceptor.local_endpoint());
    acceptor.accept(made[1]);
    return made;
  }
  void read(tcp::socket& from) {
    from.async_read_some(buffer(text), [this](error_code, std::size_t) { ++reads; });
  }

  weft::io_context context{{.backend = weft::backend_kind::epoll}};
  weft::executor_work_guard<weft::io_context::executor_type> work = make_work_guard(context);
  tcp::acceptor acceptor{context, {weft::ip::address_v4::loopback(), 0}};
  std::string text = std::string(16, '.');
  int reads = 0;
};

// The hangup of a descriptor makes reads be tried at once from then on, in vain if it is not
// theirs.
TEST_F(late_event, is_not_that_of_the_descriptor_which_is_served_in_its_place) {
  std::vector<pair> pairs;
  for (int i = 0; i != 40; ++i) {
    pairs.push_back(connect());
    read(pairs.back()[1]);
  }
  for (pair& p : pairs)
    p[0].close();
  context.run_one();
  pairs.pop_back();
  pair next = connect();
  context.poll();
  reads = 0;
  for (int i = 0; i != 8; ++i)
    for (int end : {0, 1}) {
      read(next[static_cast<std::size_t>(end)]);
      next[static_cast<std::size_t>(1 - end)].write_some(buffer("x", 1));
      context.poll();
    }
  EXPECT_EQ(reads, 16);
  EXPECT_FALSE(is_level_triggered(next[0].native_handle()));
  EXPECT_FALSE(is_level_triggered(next[1].native_handle()));
}

}  // namespace
