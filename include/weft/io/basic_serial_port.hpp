// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>

#include <weft/io/serial_port_base.hpp>
#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// The settings of a port, in memory of our own: struct termios is complete only in src/.
class WEFT_API serial_settings {
 public:
  /// tcgetattr(3).
  error_code fetch(int fd) noexcept;
  /// tcsetattr(3), at once.
  error_code apply(int fd) const noexcept;

  termios& get() noexcept;
  const termios& get() const noexcept;

 private:
  static constexpr std::size_t capacity = 64;
  alignas(std::max_align_t) unsigned char memory_[capacity];
};

/// Opens a terminal device for `io`: 8 bits, no parity, one stop bit, no flow control, raw.
WEFT_API error_code open_serial_port(descriptor_handle& io, const char* device) noexcept;

/// tcsendbreak(3).
WEFT_API error_code send_serial_break(int fd) noexcept;

}  // namespace detail

/// A serial port, that is: any terminal device, as a stream of bytes.
///
/// Thread safety: as said of handle_object; synchronous reads and writes may run beside each other.
///
///     serial_port port(context, "/dev/ttyUSB0");
///     port.set_option(serial_port::baud_rate(115200));
///     async_write(port, buffer(command), [](error_code ec, std::size_t n) { ... });
template <class Executor = any_io_executor>
class basic_serial_port : public detail::handle_object<Executor>,
                          public serial_port_base,
                          public detail::stream_reads<basic_serial_port<Executor>, Executor>,
                          public detail::stream_writes<basic_serial_port<Executor>, Executor> {
  using base = detail::handle_object<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  using lowest_layer_type = basic_serial_port;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_serial_port<Executor1>;
  };

  /// A closed port.
  explicit basic_serial_port(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_serial_port(ExecutionContext& context) : base(context.get_executor()) {}

  /// Opens `device`. Throws as open.
  basic_serial_port(const executor_type& ex, const char* device) : base(ex) { open(device); }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_serial_port(ExecutionContext& context, const char* device)
      : basic_serial_port(executor_type(context.get_executor()), device) {}
  basic_serial_port(const executor_type& ex, const std::string& device)
      : basic_serial_port(ex, device.c_str()) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_serial_port(ExecutionContext& context, const std::string& device)
      : basic_serial_port(executor_type(context.get_executor()), device.c_str()) {}

  /// Takes over an open descriptor, whose settings are left as they are. Throws as assign.
  basic_serial_port(const executor_type& ex, const native_handle_type& native) : base(ex) {
    this->assign(native);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_serial_port(ExecutionContext& context, const native_handle_type& native)
      : basic_serial_port(executor_type(context.get_executor()), native) {}

  basic_serial_port(basic_serial_port&&) noexcept = default;
  basic_serial_port& operator=(basic_serial_port&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_serial_port(basic_serial_port<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_serial_port& operator=(basic_serial_port<Executor1>&& other) {
    return *this = basic_serial_port(std::move(other));
  }

  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// Opens a device in raw mode: 8 bits, no parity, one stop bit, no flow control, modem lines
  /// ignored; the speed is left as it was. Fails with error::already_open, what open(2) reports, or
  /// ENOTTY if it is no terminal.
  void open(const std::string& device) {
    error_code ec;
    open(device, ec);
    detail::throw_if(ec, "open");
  }
  void open(const std::string& device, error_code& ec) {
    ec = detail::open_serial_port(handle(), device.c_str());
  }

  /// Sends zero bits for 0.25 to 0.5 seconds. Blocks that long on a real port.
  void send_break() {
    error_code ec;
    send_break(ec);
    detail::throw_if(ec, "send_break");
  }
  void send_break(error_code& ec) { ec = detail::send_serial_break(this->native_handle()); }

  /// Changes one setting, at once.
  template <class SettableSerialPortOption>
  void set_option(const SettableSerialPortOption& option) {
    error_code ec;
    set_option(option, ec);
    detail::throw_if(ec, "set_option");
  }
  template <class SettableSerialPortOption>
  void set_option(const SettableSerialPortOption& option, error_code& ec) {
    detail::serial_settings settings;
    if (!(ec = settings.fetch(this->native_handle())) && !option.store(settings.get(), ec))
      ec = settings.apply(this->native_handle());
  }

  template <class GettableSerialPortOption>
  void get_option(GettableSerialPortOption& option) const {
    error_code ec;
    get_option(option, ec);
    detail::throw_if(ec, "get_option");
  }
  template <class GettableSerialPortOption>
  void get_option(GettableSerialPortOption& option, error_code& ec) const {
    detail::serial_settings settings;
    if (!(ec = settings.fetch(detail::handle_access::get(*this).native_handle())))
      option.load(std::as_const(settings).get(), ec);
  }

 private:
  detail::descriptor_handle& handle() noexcept { return detail::handle_access::get(*this); }
};

}  // namespace WEFT_NAMESPACE
