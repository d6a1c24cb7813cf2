// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/error_code.hpp>

struct termios;

namespace WEFT_NAMESPACE {

/// The options of serial ports: termios(3). An option writes itself into a port's settings with
/// `store` and takes its value from them with `load`; both set `ec` and return it. A type of the
/// user's own with these two members is an option as well.
class WEFT_API serial_port_base {
 public:
  /// Bits per second. `store` fails with error::invalid_argument for a rate that has no B constant
  /// in <termios.h>.
  class WEFT_API baud_rate {
   public:
    explicit baud_rate(unsigned int rate = 0) noexcept : value_(rate) {}
    unsigned int value() const noexcept { return value_; }
    error_code store(termios& settings, error_code& ec) const noexcept;
    error_code load(const termios& settings, error_code& ec) noexcept;

   private:
    unsigned int value_;
  };

  class WEFT_API flow_control {
   public:
    /// software: XON and XOFF characters. hardware: the RTS and CTS lines.
    enum type { none, software, hardware };

    /// Throws std::out_of_range if `t` is no enumerator.
    explicit flow_control(type t = none);
    type value() const noexcept { return value_; }
    error_code store(termios& settings, error_code& ec) const noexcept;
    error_code load(const termios& settings, error_code& ec) noexcept;

   private:
    type value_;
  };

  class WEFT_API parity {
   public:
    enum type { none, odd, even };

    /// Throws std::out_of_range if `t` is no enumerator.
    explicit parity(type t = none);
    type value() const noexcept { return value_; }
    error_code store(termios& settings, error_code& ec) const noexcept;
    error_code load(const termios& settings, error_code& ec) noexcept;

   private:
    type value_;
  };

  class WEFT_API stop_bits {
   public:
    /// `store` of onepointfive fails with error::operation_not_supported.
    enum type { one, onepointfive, two };

    /// Throws std::out_of_range if `t` is no enumerator.
    explicit stop_bits(type t = one);
    type value() const noexcept { return value_; }
    error_code store(termios& settings, error_code& ec) const noexcept;
    error_code load(const termios& settings, error_code& ec) noexcept;

   private:
    type value_;
  };

  /// In bits.
  class WEFT_API character_size {
   public:
    /// Throws std::out_of_range if `bits` is not in 5..8.
    explicit character_size(unsigned int bits = 8);
    unsigned int value() const noexcept { return value_; }
    error_code store(termios& settings, error_code& ec) const noexcept;
    error_code load(const termios& settings, error_code& ec) noexcept;

   private:
    unsigned int value_;
  };

 protected:
  ~serial_port_base() = default;
};

}  // namespace WEFT_NAMESPACE
