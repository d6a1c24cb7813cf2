// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <streambuf>
#include <vector>

#include <weft/io/buffer.hpp>

namespace WEFT_NAMESPACE {

/// A std::streambuf that joins iostreams and I/O operations: what is written to it, by an ostream
/// or by `prepare` and `commit`, can be read from it by an istream, or by `data` and `consume`. It
/// grows as needed, up to `max_size`.
///
/// The bytes lie in one piece: the input sequence, then the output sequence. Any member that
/// changes either invalidates the buffers got before. Not thread-safe. Neither copyable nor
/// movable; refer to it by basic_streambuf_ref.
///
///     weft::streambuf received;
///     std::size_t n = socket.receive(received.prepare(512));
///     received.commit(n);
///     std::istream stream(&received);
///     std::string word;
///     stream >> word;
template <class Allocator = std::allocator<char>>
class basic_streambuf : public std::streambuf {
 public:
  using const_buffers_type = const_buffer;
  using mutable_buffers_type = mutable_buffer;

  /// An empty buffer that grows to at most `maximum_size` bytes, in memory from `allocator`.
  explicit basic_streambuf(std::size_t maximum_size = (std::numeric_limits<std::size_t>::max)(),
                           const Allocator& allocator = Allocator())
      : max_size_(maximum_size), storage_(allocator) {
    set_areas(0, 0, 0);
  }

  basic_streambuf(const basic_streambuf&) = delete;
  basic_streambuf& operator=(const basic_streambuf&) = delete;

  /// Of the input sequence, in bytes.
  std::size_t size() const noexcept { return static_cast<std::size_t>(pptr() - gptr()); }

  /// Of both sequences together, in bytes.
  std::size_t max_size() const noexcept { return max_size_; }

  /// The size of both sequences together up to which nothing is reallocated, in bytes.
  std::size_t capacity() const noexcept {
    return storage_.capacity() < max_size_ ? storage_.capacity() : max_size_;
  }

  /// The input sequence.
  const_buffers_type data() const noexcept { return {gptr(), size()}; }

  /// An output sequence of `n` bytes. Throws std::length_error if size() + n would exceed
  /// max_size(), and what the allocator throws; the input sequence is unchanged then.
  mutable_buffers_type prepare(std::size_t n) {
    reserve(n);
    return {pptr(), n};
  }

  /// Appends the first `n` bytes of the output sequence, or all if it is shorter, to the input.
  void commit(std::size_t n) noexcept {
    const auto room = static_cast<std::size_t>(epptr() - pptr());
    setp(pptr() + (n < room ? n : room), epptr());
    setg(eback(), gptr(), pptr());
  }

  /// Removes the first `n` bytes of the input sequence, or all if there are fewer.
  void consume(std::size_t n) noexcept {
    setg(eback(), gptr() + (n < size() ? n : size()), pptr());
  }

 protected:
  int_type underflow() override {
    if (gptr() == pptr())
      return traits_type::eof();
    setg(eback(), gptr(), pptr());
    return traits_type::to_int_type(*gptr());
  }

  /// Appends one character. Throws std::length_error where that would exceed max_size().
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof()))
      return traits_type::not_eof(c);
    if (pptr() == epptr()) {
      const std::size_t wanted = size() < min_growth ? min_growth : size();
      const std::size_t room = max_size_ - size();
      reserve(wanted < room ? wanted : room == 0 ? 1 : room);
    }
    *pptr() = traits_type::to_char_type(c);
    setp(pptr() + 1, epptr());
    return c;
  }

 private:
  static constexpr std::size_t min_growth = 128;

  // Makes room for `n` bytes of output. The storage never exceeds max_size_, so what is there
  // already may be used in full.
  void reserve(std::size_t n) {
    if (n <= static_cast<std::size_t>(epptr() - pptr()))
      return;
    const std::size_t used = size();
    if (n > max_size_ - used)
      throw std::length_error("a streambuf would exceed its maximum size");
    if (gptr() != eback() && used != 0)
      std::memmove(eback(), gptr(), used);
    set_areas(0, used, storage_.size());
    if (used + n > storage_.size()) {
      storage_.resize(used + n);
      set_areas(0, used, storage_.size());
    }
  }

  // The input sequence is [begin, middle) of the storage, the output sequence [middle, end).
  void set_areas(std::size_t begin, std::size_t middle, std::size_t end) noexcept {
    char* const base = storage_.data();
    setg(base, base + begin, base + middle);
    setp(base + middle, base + end);
  }

  std::size_t max_size_;
  std::vector<char, Allocator> storage_;
};

using streambuf = basic_streambuf<>;

/// A basic_streambuf as a dynamic buffer (version 1) that can be copied. The streambuf must outlive
/// it. Every member does what the streambuf's member of that name does.
template <class Allocator = std::allocator<char>>
class basic_streambuf_ref {
 public:
  using const_buffers_type = typename basic_streambuf<Allocator>::const_buffers_type;
  using mutable_buffers_type = typename basic_streambuf<Allocator>::mutable_buffers_type;

  explicit basic_streambuf_ref(basic_streambuf<Allocator>& sb) noexcept : sb_(&sb) {}

  std::size_t size() const noexcept { return sb_->size(); }
  std::size_t max_size() const noexcept { return sb_->max_size(); }
  std::size_t capacity() const noexcept { return sb_->capacity(); }
  const_buffers_type data() const noexcept { return sb_->data(); }
  mutable_buffers_type prepare(std::size_t n) { return sb_->prepare(n); }
  void commit(std::size_t n) { sb_->commit(n); }
  void consume(std::size_t n) { sb_->consume(n); }

 private:
  basic_streambuf<Allocator>* sb_;
};

}  // namespace WEFT_NAMESPACE
