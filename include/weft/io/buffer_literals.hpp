// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/io/buffer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <std::size_t Size>
struct literal_bytes {
  unsigned char data[Size == 0 ? 1 : Size] = {};
};

template <std::size_t Size>
struct literal_text {
  consteval literal_text(const char (&text)[Size + 1]) {
    for (std::size_t i = 0; i != Size; ++i)
      chars[i] = text[i];
  }
  char chars[Size == 0 ? 1 : Size] = {};
};
template <std::size_t N>
literal_text(const char (&)[N]) -> literal_text<N - 1>;

/// Whether `c` only separates digits. Blanks do so in text, but cannot occur in a number.
consteval bool is_separator(char c) {
  return c == '\'' || c == ' ' || c == '\t' || c == '\n';
}

/// The value of a digit; what is none, or too large, is no constant expression.
consteval unsigned digit_value(char c, unsigned base) {
  const unsigned value = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                         : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                : base;
  if (value >= base)
    throw "a buffer literal has a character that is no digit of its base";
  return value;
}

consteval std::size_t count_digits(const char* text, std::size_t size) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i != size; ++i)
    digits += is_separator(text[i]) ? 0 : 1;
  return digits;
}

/// The bytes that digits of 1 or 4 bits spell, most significant first. Where the digits do not fill
/// the first byte, its upper bits are 0.
template <std::size_t Size>
consteval literal_bytes<Size> parse_digits(const char* text, std::size_t size, unsigned bits) {
  literal_bytes<Size> bytes;
  const std::size_t per_byte = 8 / bits;
  std::size_t index = Size * per_byte - count_digits(text, size);
  for (std::size_t i = 0; i != size; ++i)
    if (!is_separator(text[i])) {
      unsigned char& byte = bytes.data[index++ / per_byte];
      byte = static_cast<unsigned char>(byte << bits | digit_value(text[i], 1u << bits));
    }
  return bytes;
}

template <char... Chars>
struct number_literal {
  static constexpr char text[sizeof...(Chars)] = {Chars...};

  static consteval unsigned bits_per_digit() {
    if (sizeof(text) > 2 && text[0] == '0') {
      if (text[1] == 'x' || text[1] == 'X')
        return 4;
      if (text[1] == 'b' || text[1] == 'B')
        return 1;
    }
    throw "a buffer literal is a string, or begins with 0x or 0b";
  }

  static constexpr unsigned bits = bits_per_digit();
  static constexpr std::size_t size = (count_digits(text + 2, sizeof(text) - 2) * bits + 7) / 8;
  static constexpr literal_bytes<size> bytes = parse_digits<size>(text + 2, sizeof(text) - 2, bits);
};

template <std::size_t Size>
consteval std::size_t whole_bytes(const literal_text<Size>& text, unsigned bits) {
  const std::size_t used = count_digits(text.chars, Size) * bits;
  if (used % 8 != 0)
    throw "the digits of a buffer literal do not fill whole bytes";
  return used / 8;
}

template <literal_text Text, std::size_t TextSize, unsigned Bits>
struct digits_literal {
  static constexpr std::size_t size = whole_bytes(Text, Bits);
  static constexpr literal_bytes<size> bytes = parse_digits<size>(Text.chars, TextSize, Bits);
};

template <std::size_t Size>
consteval std::size_t text_size(const literal_text<Size>&) {
  return Size;
}

}  // namespace detail

/// Literals for constant buffers. Their memory is static: they can be given to an asynchronous
/// operation as they are. Wrong digits do not compile.
///
///     using namespace weft::buffer_literals;
///     async_write(socket, "hello"_buf, handler);
///     const_buffer magic = 0xcafe'babe_buf;          // 4 bytes, ca first
///     const_buffer flags = 0b1010'1010_buf;          // 1 byte
///     const_buffer frame = "01 00 0000ffff"_hex_buf; // 6 bytes
namespace buffer_literals {

/// The characters of the string, without the closing zero.
constexpr const_buffer operator""_buf(const char* data, std::size_t size) noexcept {
  return {data, size};
}

/// The bytes of a binary or hexadecimal number of any length, the most significant first.
template <char... Chars>
constexpr const_buffer operator""_buf() noexcept {
  using literal = detail::number_literal<Chars...>;
  return {literal::bytes.data, literal::size};
}

/// The bytes that a string of hexadecimal digits spells; blanks and ' may separate them.
template <detail::literal_text Text>
constexpr const_buffer operator""_hex_buf() noexcept {
  using literal = detail::digits_literal<Text, detail::text_size(Text), 4>;
  return {literal::bytes.data, literal::size};
}

/// The bytes that a string of binary digits spells; blanks and ' may separate them.
template <detail::literal_text Text>
constexpr const_buffer operator""_bin_buf() noexcept {
  using literal = detail::digits_literal<Text, detail::text_size(Text), 1>;
  return {literal::bytes.data, literal::size};
}

}  // namespace buffer_literals
}  // namespace WEFT_NAMESPACE
