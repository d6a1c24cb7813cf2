// SPDX-License-Identifier: BSL-1.0
// Memory that is no plain memory, or may not be written to, makes no buffer to read into; and the
// digits of a literal are checked.
// bad 1: no matching function for call to .?buffer
// bad 2: no matching function for call to .?buffer
// bad 3: (no matching function for call to|constraints not satisfied)
// bad 4: conver
// bad 5: no digit of its base|not a constant expression|constant expression
// bad 6: a string, or begins with 0x or 0b|constant expression
// bad 7: whole bytes|constant expression
// bad 8: made of bytes
#include <string>
#include <vector>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/buffer_literals.hpp>
#include <weft/io/dynamic_buffer.hpp>

#ifndef WEFT_BAD
#define WEFT_BAD 0
#endif

using namespace weft::buffer_literals;

int main() {
  std::vector<char> memory(10);
  weft::mutable_buffer target = weft::buffer(memory);
  weft::buffer_copy(target, 0xc0ffee_buf);
  weft::buffer_copy(target, "c0 ff ee"_hex_buf);

#if WEFT_BAD == 1
  std::vector<std::string> strings;
  weft::buffer(strings);
#elif WEFT_BAD == 2
  std::vector<weft::const_buffer> buffers;
  weft::buffer(buffers);
#elif WEFT_BAD == 3
  weft::buffer_copy("read-only"_buf, target);
#elif WEFT_BAD == 4
  target = "read-only"_buf;
#elif WEFT_BAD == 5
  weft::buffer_copy(target, "c0 fg"_hex_buf);
#elif WEFT_BAD == 6
  weft::buffer_copy(target, 1234_buf);
#elif WEFT_BAD == 7
  weft::buffer_copy(target, "1010101"_bin_buf);
#elif WEFT_BAD == 8
  std::vector<int> integers;
  weft::dynamic_buffer(integers).size();
#endif
}
