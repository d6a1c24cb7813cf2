// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_literals.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace weft::buffer_literals;

std::string bytes(weft::const_buffer b) {
  return {static_cast<const char*>(b.data()), b.size()};
}

TEST(buffer_literals, string_has_no_closing_zero) {
  EXPECT_EQ(bytes("hello"_buf), "hello");
  EXPECT_EQ(bytes("a\0b"_buf), std::string("a\0b", 3));
  EXPECT_EQ(bytes(""_buf), "");
}

TEST(buffer_literals, numbers_begin_with_the_most_significant_byte) {
  EXPECT_EQ(bytes(0xDEADbeef_buf), "\xde\xad\xbe\xef");
  EXPECT_EQ(bytes(0x0123'4567'89ab'cdef'0123'4567'89ab'cdef'42_buf),
            "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x42");
  EXPECT_EQ(bytes(0b1010101011001100_buf), "\xaa\xcc");
  EXPECT_EQ(bytes(0B0110'0001_buf), "a");
}

TEST(buffer_literals, digits_that_do_not_fill_a_byte_fill_its_low_bits) {
  EXPECT_EQ(bytes(0xfff_buf), "\x0f\xff");
  EXPECT_EQ(bytes(0b1'00000000_buf), std::string("\x01\x00", 2));
}

TEST(buffer_literals, digit_strings_allow_separators) {
  EXPECT_EQ(bytes("01 00\t0000'fFFf"_hex_buf), std::string("\x01\x00\x00\x00\xff\xff", 6));
  EXPECT_EQ(bytes("0110 0001"
                  "0110 0010"_bin_buf),
            "ab");
  EXPECT_EQ(bytes(""_hex_buf), "");
}

TEST(buffer_literals, memory_is_static) {
  EXPECT_EQ((0xcafe_buf).data(), (0xcafe_buf).data());
  static_assert((0xcafe_buf).size() == 2);
}

}  // namespace
