// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

#include <weft/io/buffer_sequence.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Sequence, class Byte>
using byte_of = std::conditional_t<mutable_sequence<Sequence>, Byte, const Byte>;

/// Where a buffers_iterator stands. `move` takes any distance that stays within the sequence.
template <class Sequence, class Byte, bool Single = is_single_buffer<Sequence>>
class byte_cursor {
  using buffer_type = std::conditional_t<mutable_sequence<Sequence>, mutable_buffer, const_buffer>;

 public:
  byte_cursor() = default;

  static byte_cursor begin(const Sequence& sequence) {
    byte_cursor cursor;
    cursor.current_ = buffer_sequence_begin(sequence);
    cursor.end_ = buffer_sequence_end(sequence);
    cursor.load();
    cursor.skip_exhausted();
    return cursor;
  }

  static byte_cursor end(const Sequence& sequence) {
    byte_cursor cursor;
    cursor.current_ = cursor.end_ = buffer_sequence_end(sequence);
    cursor.position_ = static_cast<std::ptrdiff_t>(buffer_size(sequence));
    return cursor;
  }

  byte_of<Sequence, Byte>* address() const noexcept {
    return static_cast<byte_of<Sequence, Byte>*>(buffer_.data()) + offset_;
  }
  std::ptrdiff_t position() const noexcept { return position_; }

  void move(std::ptrdiff_t distance) {
    position_ += distance;
    if (distance >= 0) {
      offset_ += static_cast<std::size_t>(distance);
      skip_exhausted();
      return;
    }
    auto back = static_cast<std::size_t>(-distance);
    while (back > offset_) {
      back -= offset_;
      --current_;
      load();
      offset_ = buffer_.size();
    }
    offset_ -= back;
  }

 private:
  void load() {
    if (current_ != end_) {
      if constexpr (std::is_same_v<buffer_type, const_buffer>)
        buffer_ = to_const_buffer(*current_);
      else
        buffer_ = *current_;
    } else {
      buffer_ = {};
    }
  }

  void skip_exhausted() {
    while (current_ != end_ && offset_ >= buffer_.size()) {
      offset_ -= buffer_.size();
      ++current_;
      load();
    }
  }

  sequence_iterator<Sequence> current_{};
  sequence_iterator<Sequence> end_{};
  buffer_type buffer_;
  std::size_t offset_ = 0;
  std::ptrdiff_t position_ = 0;
};

// One buffer needs no bookkeeping, and no reference into the sequence object.
template <class Sequence, class Byte>
class byte_cursor<Sequence, Byte, true> {
 public:
  byte_cursor() = default;

  static byte_cursor begin(const Sequence& sequence) {
    const auto b = only(sequence);
    byte_cursor cursor;
    cursor.begin_ = cursor.current_ = static_cast<byte_of<Sequence, Byte>*>(b.data());
    return cursor;
  }
  static byte_cursor end(const Sequence& sequence) {
    byte_cursor cursor = begin(sequence);
    cursor.current_ += only(sequence).size();
    return cursor;
  }

  byte_of<Sequence, Byte>* address() const noexcept { return current_; }
  std::ptrdiff_t position() const noexcept { return current_ - begin_; }
  void move(std::ptrdiff_t distance) { current_ += distance; }

 private:
  static auto only(const Sequence& sequence) {
    if constexpr (mutable_sequence<Sequence>)
      return static_cast<mutable_buffer>(*buffer_sequence_begin(sequence));
    else
      return to_const_buffer(*buffer_sequence_begin(sequence));
  }

  byte_of<Sequence, Byte>* begin_ = nullptr;
  byte_of<Sequence, Byte>* current_ = nullptr;
};

}  // namespace detail

/// A random access iterator over the bytes of a buffer sequence, as if they lay in one piece. Bytes
/// of a mutable sequence can be written through it. It refers to the sequence, which must outlive
/// it (over a single buffer, only the memory must), and goes by `ByteType`, of size 1.
///
/// Complexity: a step is constant; a jump is linear in the number of buffers that it crosses, and
/// constant over a single buffer.
///
///     std::size_t n = read_until(socket, streambuf, '\n');
///     auto bytes = streambuf.data();
///     std::string line(buffers_begin(bytes), buffers_begin(bytes) + n);
template <class BufferSequence, class ByteType = char>
class buffers_iterator {
  static_assert(sizeof(ByteType) == 1);
  using cursor = detail::byte_cursor<BufferSequence, ByteType>;

 public:
  using difference_type = std::ptrdiff_t;
  using value_type = ByteType;
  using pointer = detail::byte_of<BufferSequence, ByteType>*;
  using reference = detail::byte_of<BufferSequence, ByteType>&;
  using iterator_category = std::random_access_iterator_tag;

  /// An iterator that may only be assigned to.
  buffers_iterator() = default;

  static buffers_iterator begin(const BufferSequence& buffers) {
    return buffers_iterator(cursor::begin(buffers));
  }
  static buffers_iterator end(const BufferSequence& buffers) {
    return buffers_iterator(cursor::end(buffers));
  }

  reference operator*() const { return *cursor_.address(); }
  pointer operator->() const { return cursor_.address(); }
  reference operator[](difference_type n) const { return *(*this + n); }

  buffers_iterator& operator+=(difference_type n) {
    cursor_.move(n);
    return *this;
  }
  buffers_iterator& operator-=(difference_type n) { return *this += -n; }
  buffers_iterator& operator++() { return *this += 1; }
  buffers_iterator& operator--() { return *this += -1; }
  buffers_iterator operator++(int) {
    buffers_iterator before(*this);
    ++*this;
    return before;
  }
  buffers_iterator operator--(int) {
    buffers_iterator before(*this);
    --*this;
    return before;
  }

  friend buffers_iterator operator+(buffers_iterator it, difference_type n) { return it += n; }
  friend buffers_iterator operator+(difference_type n, buffers_iterator it) { return it += n; }
  friend buffers_iterator operator-(buffers_iterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(const buffers_iterator& a, const buffers_iterator& b) {
    return a.cursor_.position() - b.cursor_.position();
  }

  // Both sides must be over the same sequence.
  friend bool operator==(const buffers_iterator& a, const buffers_iterator& b) {
    return a.cursor_.position() == b.cursor_.position();
  }
  friend std::strong_ordering operator<=>(const buffers_iterator& a, const buffers_iterator& b) {
    return a.cursor_.position() <=> b.cursor_.position();
  }

 private:
  explicit buffers_iterator(cursor c) : cursor_(c) {}

  cursor cursor_;
};

/// An iterator to the first byte of a buffer sequence.
template <detail::const_sequence BufferSequence>
buffers_iterator<BufferSequence> buffers_begin(const BufferSequence& buffers) {
  return buffers_iterator<BufferSequence>::begin(buffers);
}

/// An iterator past the last byte of a buffer sequence.
template <detail::const_sequence BufferSequence>
buffers_iterator<BufferSequence> buffers_end(const BufferSequence& buffers) {
  return buffers_iterator<BufferSequence>::end(buffers);
}

}  // namespace WEFT_NAMESPACE
