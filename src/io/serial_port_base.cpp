// SPDX-License-Identifier: BSL-1.0
#include <weft/io/serial_port_base.hpp>

#include <termios.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE {

namespace {

struct rate {
  unsigned int value;
  speed_t code;
};

constexpr rate rates[] = {
    {0, B0},
    {50, B50},
    {75, B75},
    {110, B110},
    {134, B134},
    {150, B150},
    {200, B200},
    {300, B300},
    {600, B600},
    {1200, B1200},
    {1800, B1800},
    {2400, B2400},
    {4800, B4800},
    {9600, B9600},
    {19200, B19200},
    {38400, B38400},
    {57600, B57600},
    {115200, B115200},
    {230400, B230400},
    {460800, B460800},
    {500000, B500000},
    {576000, B576000},
    {921600, B921600},
    {1000000, B1000000},
    {1152000, B1152000},
    {1500000, B1500000},
    {2000000, B2000000},
    {2500000, B2500000},
    {3000000, B3000000},
    {3500000, B3500000},
    {4000000, B4000000},
};

/// Replaces the bits of `mask`.
void put(tcflag_t& flags, tcflag_t mask, tcflag_t bits) noexcept {
  flags = (flags & ~mask) | bits;
}

error_code success(error_code& ec) noexcept {
  ec.clear();
  return ec;
}

template <class Type>
Type checked(Type value, Type last, const char* what) {
  if (value < Type{} || value > last)
    throw std::out_of_range(what);
  return value;
}

}  // namespace

error_code serial_port_base::baud_rate::store(termios& settings, error_code& ec) const noexcept {
  const auto* found = std::find_if(std::begin(rates), std::end(rates),
                                   [this](const rate& r) { return r.value == value_; });
  if (found == std::end(rates))
    return ec = error::invalid_argument;
  ::cfsetispeed(&settings, found->code);
  ::cfsetospeed(&settings, found->code);
  return success(ec);
}

error_code serial_port_base::baud_rate::load(const termios& settings, error_code& ec) noexcept {
  const speed_t code = ::cfgetospeed(&settings);
  const auto* found = std::find_if(std::begin(rates), std::end(rates),
                                   [code](const rate& r) { return r.code == code; });
  if (found == std::end(rates))
    return ec = error::invalid_argument;
  value_ = found->value;
  return success(ec);
}

serial_port_base::flow_control::flow_control(type t)
    : value_(checked(t, hardware, "flow_control")) {}

error_code serial_port_base::flow_control::store(termios& settings, error_code& ec) const noexcept {
  put(settings.c_iflag, IXON | IXOFF, value_ == software ? IXON | IXOFF : 0);
  put(settings.c_cflag, CRTSCTS, value_ == hardware ? CRTSCTS : 0);
  return success(ec);
}

error_code serial_port_base::flow_control::load(const termios& settings, error_code& ec) noexcept {
  value_ = (settings.c_iflag & (IXON | IXOFF)) != 0 ? software
           : (settings.c_cflag & CRTSCTS) != 0      ? hardware
                                                    : none;
  return success(ec);
}

serial_port_base::parity::parity(type t) : value_(checked(t, even, "parity")) {}

error_code serial_port_base::parity::store(termios& settings, error_code& ec) const noexcept {
  // Characters whose parity is wrong are dropped; without parity nothing is checked.
  put(settings.c_iflag, IGNPAR | PARMRK | INPCK, value_ == none ? IGNPAR : IGNPAR | INPCK);
  put(settings.c_cflag, PARENB | PARODD,
      value_ == none  ? 0
      : value_ == odd ? PARENB | PARODD
                      : PARENB);
  return success(ec);
}

error_code serial_port_base::parity::load(const termios& settings, error_code& ec) noexcept {
  value_ = (settings.c_cflag & PARENB) == 0 ? none : (settings.c_cflag & PARODD) != 0 ? odd : even;
  return success(ec);
}

serial_port_base::stop_bits::stop_bits(type t) : value_(checked(t, two, "stop_bits")) {}

error_code serial_port_base::stop_bits::store(termios& settings, error_code& ec) const noexcept {
  if (value_ == onepointfive)
    return ec = error::operation_not_supported;
  put(settings.c_cflag, CSTOPB, value_ == two ? CSTOPB : 0);
  return success(ec);
}

error_code serial_port_base::stop_bits::load(const termios& settings, error_code& ec) noexcept {
  value_ = (settings.c_cflag & CSTOPB) != 0 ? two : one;
  return success(ec);
}

serial_port_base::character_size::character_size(unsigned int bits) : value_(bits) {
  if (bits < 5 || bits > 8)
    throw std::out_of_range("character_size");
}

error_code serial_port_base::character_size::store(termios& settings,
                                                   error_code& ec) const noexcept {
  constexpr tcflag_t codes[] = {CS5, CS6, CS7, CS8};
  put(settings.c_cflag, CSIZE, codes[value_ - 5]);
  return success(ec);
}

error_code serial_port_base::character_size::load(const termios& settings,
                                                  error_code& ec) noexcept {
  switch (settings.c_cflag & CSIZE) {
    case CS5: value_ = 5; break;
    case CS6: value_ = 6; break;
    case CS7: value_ = 7; break;
    default: value_ = 8; break;
  }
  return success(ec);
}

}  // namespace WEFT_NAMESPACE
