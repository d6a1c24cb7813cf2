// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>

#include <weft/base/error.hpp>
#include <weft/io/buffer_copy.hpp>

namespace weft_test {

/// A synchronous stream, or device, that follows a script. Each read takes from one chunk; each
/// write takes as many bytes as the next chunk is long. After the script comes end of file.
class scripted_stream {
 public:
  struct chunk {
    std::string data;
    weft::error_code ec = {};
  };

  scripted_stream& then(std::string data) {
    script_.push_back({std::move(data)});
    return *this;
  }
  scripted_stream& then(weft::error_code ec) {
    script_.push_back({{}, ec});
    return *this;
  }
  scripted_stream& then_take(std::size_t n) { return then(std::string(n, '-')); }

  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, weft::error_code& ec) {
    ++calls;
    sizes.push_back(weft::buffer_size(buffers));
    if (sizes.back() == 0)
      return 0;
    return next(ec, [&](chunk& c) {
      const std::size_t n = weft::buffer_copy(buffers, weft::buffer(c.data));
      c.data.erase(0, n);
      return n;
    });
  }

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, weft::error_code& ec) {
    ++calls;
    sizes.push_back(weft::buffer_size(buffers));
    if (sizes.back() == 0)
      return 0;
    return next(ec, [&](chunk& c) {
      std::string taken(std::min(c.data.size(), sizes.back()), '\0');
      weft::buffer_copy(weft::buffer(taken), buffers);
      written += taken;
      c.data.clear();
      return taken.size();
    });
  }

  template <class Buffers>
  std::size_t read_some_at(std::uint64_t offset, const Buffers& buffers, weft::error_code& ec) {
    offsets.push_back(offset);
    return read_some(buffers, ec);
  }
  template <class Buffers>
  std::size_t write_some_at(std::uint64_t offset, const Buffers& buffers, weft::error_code& ec) {
    offsets.push_back(offset);
    return write_some(buffers, ec);
  }

  int calls = 0;
  std::deque<std::size_t> sizes;  // of the buffers of each call
  std::deque<std::uint64_t> offsets;
  std::string written;

 private:
  template <class Transfer>
  std::size_t next(weft::error_code& ec, Transfer transfer) {
    if (script_.empty()) {
      ec = weft::error::eof;
      return 0;
    }
    chunk& c = script_.front();
    ec = c.ec;
    const std::size_t n = ec ? 0 : transfer(c);
    if (c.data.empty())
      script_.pop_front();
    return n;
  }

  std::deque<chunk> script_;
};

}  // namespace weft_test
