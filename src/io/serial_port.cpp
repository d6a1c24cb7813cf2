// SPDX-License-Identifier: BSL-1.0
#include <weft/io/basic_serial_port.hpp>

#include <fcntl.h>
#include <termios.h>

#include <cerrno>
#include <new>

namespace WEFT_NAMESPACE::detail {

error_code serial_settings::fetch(int fd) noexcept {
  static_assert(sizeof(termios) <= capacity);
  return ::tcgetattr(fd, ::new (static_cast<void*>(memory_)) termios) < 0 ? errno_code(errno)
                                                                          : error_code();
}

error_code serial_settings::apply(int fd) const noexcept {
  int result = 0;
  do {
    result = ::tcsetattr(fd, TCSANOW, &get());
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno_code(errno) : error_code();
}

termios& serial_settings::get() noexcept {
  return *std::launder(reinterpret_cast<termios*>(memory_));
}

const termios& serial_settings::get() const noexcept {
  return *std::launder(reinterpret_cast<const termios*>(memory_));
}

error_code open_serial_port(descriptor_handle& io, const char* device) noexcept {
  // Without O_NONBLOCK, opening would wait for a carrier.
  error_code ec = io.open(device, O_RDWR | O_NONBLOCK | O_NOCTTY, 0);
  if (ec)
    return ec;
  serial_settings settings;
  ec = settings.fetch(io.native_handle());
  if (!ec) {
    termios& t = settings.get();
    ::cfmakeraw(&t);
    t.c_iflag |= IGNPAR;
    t.c_cflag &= ~static_cast<tcflag_t>(CSTOPB | CRTSCTS);
    t.c_cflag |= CREAD | CLOCAL;
    t.c_cc[VMIN] = 1;
    t.c_cc[VTIME] = 0;
    ec = settings.apply(io.native_handle());
  }
  if (ec)
    io.close();
  return ec;
}

error_code send_serial_break(int fd) noexcept {
  return ::tcsendbreak(fd, 0) < 0 ? errno_code(errno) : error_code();
}

}  // namespace WEFT_NAMESPACE::detail
