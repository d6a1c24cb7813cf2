// SPDX-License-Identifier: BSL-1.0
#include <weft/io/serial_port.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/error.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/stream_descriptor.hpp>

#include "support/backend.hpp"
#include "support/temporary_directory.hpp"

namespace {

using weft::error_code;
using weft::serial_port;

/// The far end of the line is the master of a pseudo-terminal.
class serial_port_test : public weft_test::backend_test {
 protected:
  serial_port_test() {
    const int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[128];
    if (fd < 0 || ::grantpt(fd) != 0 || ::unlockpt(fd) != 0 ||
        ::ptsname_r(fd, name, sizeof(name)) != 0)
      throw std::runtime_error("no pseudo-terminal");
    far.assign(fd);
    device = name;
  }

  termios settings() {
    termios t{};
    EXPECT_EQ(::tcgetattr(port.native_handle(), &t), 0);
    return t;
  }

  weft::posix::stream_descriptor far{context};
  serial_port port{context};
  std::string device;
};

TEST_P(serial_port_test, every_byte_passes_unchanged_in_both_directions) {
  port.open(device);
  std::string all;
  for (int i = 0; i != 256; ++i)
    all.push_back(static_cast<char>(i));
  std::string up, down;
  char from_far[64], from_port[64];
  struct reader {
    weft::posix::stream_descriptor* far;
    serial_port* port;
    char (&to)[64];
    std::string& sum;
    void operator()(error_code ec, std::size_t n) {
      ASSERT_FALSE(ec) << ec.message();
      sum.append(to, n);
      if (sum.size() == 256)
        return;
      far ? far->async_read_some(weft::buffer(to), *this)
          : port->async_read_some(weft::buffer(to), *this);
    }
  };
  reader{&far, nullptr, from_far, up}({}, 0);
  reader{nullptr, &port, from_port, down}({}, 0);
  port.async_write_some(weft::buffer(all),
                        [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 256); });
  far.async_write_some(weft::buffer(all),
                       [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 256); });
  context.run();
  EXPECT_EQ(up, all);
  EXPECT_EQ(down, all);
}

TEST_P(serial_port_test, synchronous_calls_block_until_there_is_something) {
  port.open(device);
  std::thread writer([&] { far.write_some(weft::buffer("x", 1)); });
  char c = 0;
  EXPECT_EQ(port.read_some(weft::buffer(&c, 1)), 1u);
  EXPECT_EQ(c, 'x');
  writer.join();
  EXPECT_EQ(port.write_some(weft::buffer("y", 1)), 1u);
  EXPECT_EQ(far.read_some(weft::buffer(&c, 1)), 1u);
  EXPECT_EQ(c, 'y');
}

TEST_P(serial_port_test, it_opens_raw_with_eight_bits_and_nothing_else) {
  port.open(device);
  const termios t = settings();
  EXPECT_EQ(t.c_lflag & (ICANON | ECHO | ISIG), 0u);
  EXPECT_EQ(t.c_oflag & OPOST, 0u);
  EXPECT_EQ(t.c_cflag & (CSIZE | CSTOPB | CRTSCTS | PARENB), static_cast<tcflag_t>(CS8));
}

TEST_P(serial_port_test, every_option_reads_back_as_it_was_set) {
  port.open(device);
  for (const unsigned rate : {50u, 9600u, 19200u, 115200u, 4000000u}) {
    port.set_option(serial_port::baud_rate(rate));
    serial_port::baud_rate got;
    port.get_option(got);
    EXPECT_EQ(got.value(), rate);
  }
  for (const auto flow : {serial_port::flow_control::software, serial_port::flow_control::hardware,
                          serial_port::flow_control::none}) {
    port.set_option(serial_port::flow_control(flow));
    serial_port::flow_control got;
    port.get_option(got);
    EXPECT_EQ(got.value(), flow);
  }
  for (const auto bits : {serial_port::stop_bits::two, serial_port::stop_bits::one}) {
    port.set_option(serial_port::stop_bits(bits));
    serial_port::stop_bits got;
    port.get_option(got);
    EXPECT_EQ(got.value(), bits);
  }
}

// A pseudo-terminal keeps 8 bits and no parity, whatever is asked for: these are tried on settings.
TEST(serial_port_base, options_store_and_load_what_a_pseudo_terminal_refuses) {
  termios t{};
  error_code ec = weft::error::fault;
  for (const auto parity :
       {serial_port::parity::odd, serial_port::parity::even, serial_port::parity::none}) {
    EXPECT_FALSE(serial_port::parity(parity).store(t, ec));
    EXPECT_EQ((t.c_cflag & PARENB) != 0, parity != serial_port::parity::none);
    serial_port::parity got;
    EXPECT_FALSE(got.load(t, ec));
    EXPECT_EQ(got.value(), parity);
  }
  for (unsigned bits = 5; bits <= 8; ++bits) {
    EXPECT_FALSE(serial_port::character_size(bits).store(t, ec));
    serial_port::character_size got;
    EXPECT_FALSE(got.load(t, ec));
    EXPECT_EQ(got.value(), bits);
  }
}

TEST_P(serial_port_test, values_that_are_none_are_refused) {
  port.open(device);
  error_code ec;
  port.set_option(serial_port::baud_rate(12345), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  port.set_option(serial_port::stop_bits(serial_port::stop_bits::onepointfive), ec);
  EXPECT_EQ(ec, weft::error::operation_not_supported);
  EXPECT_THROW(serial_port::character_size(9), std::out_of_range);
  EXPECT_THROW(serial_port::character_size(4), std::out_of_range);
  EXPECT_THROW(serial_port::parity(static_cast<serial_port::parity::type>(3)), std::out_of_range);
}

TEST_P(serial_port_test, an_option_of_the_user_s_own_is_one) {
  struct local_echo {
    bool on = false;
    error_code store(termios& t, error_code& ec) const {
      t.c_lflag = on ? t.c_lflag | ECHO : t.c_lflag & ~static_cast<tcflag_t>(ECHO);
      return ec = error_code();
    }
    error_code load(const termios& t, error_code& ec) {
      on = (t.c_lflag & ECHO) != 0;
      return ec = error_code();
    }
  };
  port.open(device);
  port.set_option(local_echo{true});
  EXPECT_NE(settings().c_lflag & ECHO, 0u);
  local_echo got;
  port.get_option(got);
  EXPECT_TRUE(got.on);
}

TEST_P(serial_port_test, opening_what_is_no_terminal_fails) {
  const weft_test::temporary_directory directory;
  error_code ec;
  port.open(directory.file("f", ""), ec);
  EXPECT_EQ(ec, error_code(ENOTTY, weft::system_category()));
  EXPECT_FALSE(port.is_open());
  port.open(directory / "none", ec);
  EXPECT_EQ(ec, error_code(ENOENT, weft::system_category()));
  EXPECT_THROW(serial_port(context, directory / "none"), weft::system_error);
  port.open(device);
  port.open(device, ec);
  EXPECT_EQ(ec, weft::error::already_open);
}

TEST_P(serial_port_test, a_break_can_be_sent_and_a_closed_port_says_so) {
  port.open(device);
  port.send_break();
  port.close();
  error_code ec;
  port.send_break(ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  port.set_option(serial_port::baud_rate(9600), ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(serial_port_test, cancel_and_hang_up_end_a_pending_read) {
  port.open(device);
  char c;
  std::vector<error_code> results;
  port.async_read_some(weft::buffer(&c, 1),
                       [&](error_code ec, std::size_t) { results.push_back(ec); });
  context.poll();
  port.cancel();
  context.run();
  context.restart();
  port.async_read_some(weft::buffer(&c, 1),
                       [&](error_code ec, std::size_t) { results.push_back(ec); });
  context.poll();
  far.close();
  context.run();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], weft::error::operation_aborted);
  EXPECT_TRUE(results[1]);
}

TEST_P(serial_port_test, a_descriptor_of_a_terminal_can_be_handed_in) {
  serial_port other(context, ::open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(other.is_open());
  serial_port moved(std::move(other));
  EXPECT_FALSE(other.is_open());
  serial_port::baud_rate rate;
  moved.get_option(rate);
  EXPECT_GT(rate.value(), 0u);
}

WEFT_INSTANTIATE_BACKENDS(serial_port_test);

}  // namespace
