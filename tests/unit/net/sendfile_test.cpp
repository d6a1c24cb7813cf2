// SPDX-License-Identifier: BSL-1.0
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/io/read.hpp>
#include <weft/net/sendfile.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

/// A file of `size` bytes without a name.
class temporary_file {
 public:
  explicit temporary_file(std::size_t size) {
    char name[] = "/tmp/weft-sendfile-XXXXXX";
    fd_ = ::mkstemp(name);
    ::unlink(name);
    content.resize(size);
    for (std::size_t i = 0; i != size; ++i)
      content[i] = static_cast<char>('a' + i % 26);
    EXPECT_EQ(::pwrite(fd_, content.data(), size, 0), static_cast<ssize_t>(size));
  }
  ~temporary_file() { ::close(fd_); }
  int native_handle() const { return fd_; }

  std::string content;

 private:
  int fd_;
};

using sendfile = socket_test;

TEST_P(sendfile, sends_a_part_of_a_file) {
  auto [a, b] = tcp_pair();
  temporary_file file(100);
  transfer sent;
  weft::async_sendfile(a, file, 10, 20, sent.handler());
  EXPECT_EQ(sent.calls, 0);
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 20u);
  EXPECT_EQ(weft::sendfile(a, file.native_handle(), 0, 5), 5u);
  std::string got(25, '\0');
  weft::read(b, buffer(got));
  EXPECT_EQ(got, file.content.substr(10, 20) + file.content.substr(0, 5));
}

TEST_P(sendfile, long_file_goes_in_steps_as_the_peer_reads) {
  auto [a, b] = unix_pair();
  temporary_file file(5 << 20);
  transfer sent, received;
  std::string got(file.content.size(), '\0');
  weft::async_sendfile(a, file, 0, file.content.size(), sent.handler());
  weft::async_read(b, buffer(got), received.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), file.content.size());
  EXPECT_FALSE(received.ec());
  EXPECT_TRUE(got == file.content);
}

TEST_P(sendfile, end_of_the_file_ends_it_with_success) {
  auto [a, b] = tcp_pair();
  temporary_file file(10);
  transfer sent;
  weft::async_sendfile(a, file, 4, 1000, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 6u);
  EXPECT_EQ(weft::sendfile(a, file, 4, 1000), 6u);
}

TEST_P(sendfile, nothing_to_send_succeeds_but_not_inline) {
  auto [a, b] = tcp_pair();
  temporary_file file(10);
  transfer sent;
  weft::async_sendfile(a, file, 0, 0, sent.handler());
  EXPECT_EQ(sent.calls, 0);
  run();
  EXPECT_FALSE(sent.ec());
}

TEST_P(sendfile, broken_connection_raises_no_signal) {
  auto [a, b] = unix_pair();
  b.close();
  temporary_file file(10);
  transfer sent;
  weft::async_sendfile(a, file, 0, 10, sent.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::broken_pipe);
  error_code ec;
  weft::sendfile(a, file, 0, 10, ec);
  EXPECT_EQ(ec, weft::error::broken_pipe);
}

TEST_P(sendfile, closed_socket_and_bad_file_are_reported) {
  tcp::socket closed(context);
  auto [a, b] = tcp_pair();
  temporary_file file(10);
  transfer no_socket, no_file;
  weft::async_sendfile(closed, file, 0, 10, no_socket.handler());
  weft::async_sendfile(a, -1, 0, 10, no_file.handler());
  run();
  EXPECT_EQ(no_socket.ec(), weft::error::bad_descriptor);
  EXPECT_EQ(no_file.ec(), weft::error::bad_descriptor);
}

TEST_P(sendfile, cancelled_reports_what_was_sent) {
  auto [a, b] = unix_pair();
  temporary_file file(5 << 20);
  transfer sent;
  weft::cancellation_signal signal;
  weft::async_sendfile(a, file, 0, file.content.size(),
                       weft::bind_cancellation_slot(signal.slot(), sent.handler()));
  context.poll();
  ASSERT_EQ(sent.calls, 0);
  signal.emit(weft::cancellation_type::partial);
  run();
  EXPECT_EQ(sent.ec(), weft::error::operation_aborted);
  EXPECT_EQ(sent.bytes(), b.available());
}

WEFT_INSTANTIATE_BACKENDS(sendfile);

}  // namespace
