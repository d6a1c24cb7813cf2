// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

class const_buffer;
class mutable_buffer;

namespace detail {

// A span is known by its shape, so that gsl::span and the like are spans too.
template <class T>
inline constexpr bool is_byte_span = false;
template <template <class, std::size_t> class Span, class T, std::size_t Extent>
  requires(sizeof(T) == 1) && requires(const Span<T, Extent>& span) {
    { span.subspan(0, 0) } -> std::same_as<Span<T, static_cast<std::size_t>(-1)>>;
  }
inline constexpr bool is_byte_span<Span<T, Extent>> = true;

template <class T>
concept const_byte_span = is_byte_span<T>;

template <class T>
concept mutable_byte_span =
    is_byte_span<T> && requires(const T& span, void* p) { p = span.data(); };

}  // namespace detail

/// A contiguous range of bytes that may be written to. It does not own the bytes: whoever made it
/// keeps them alive as long as it, or a copy of it, is used. Cheap to copy. It is a mutable buffer
/// sequence of one element.
class mutable_buffer {
 public:
  /// An empty buffer at no address.
  constexpr mutable_buffer() noexcept = default;

  /// `size` bytes from `data` on.
  constexpr mutable_buffer(void* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// The bytes of a span.
  template <detail::mutable_byte_span Span>
  constexpr mutable_buffer(const Span& span) noexcept : data_(span.data()), size_(span.size()) {}

  constexpr void* data() const noexcept { return data_; }

  /// In bytes.
  constexpr std::size_t size() const noexcept { return size_; }

  /// Moves the start forward by `n` bytes, at most to the end.
  mutable_buffer& operator+=(std::size_t n) noexcept {
    const std::size_t offset = n < size_ ? n : size_;
    data_ = static_cast<char*>(data_) + offset;
    size_ -= offset;
    return *this;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A contiguous range of bytes that may only be read; else as mutable_buffer, which converts to it.
/// It is a constant buffer sequence of one element.
class const_buffer {
 public:
  /// An empty buffer at no address.
  constexpr const_buffer() noexcept = default;

  /// `size` bytes from `data` on.
  constexpr const_buffer(const void* data, std::size_t size) noexcept : data_(data), size_(size) {}

  constexpr const_buffer(const mutable_buffer& b) noexcept : data_(b.data()), size_(b.size()) {}

  /// The bytes of a span.
  template <detail::const_byte_span Span>
  constexpr const_buffer(const Span& span) noexcept : data_(span.data()), size_(span.size()) {}

  constexpr const void* data() const noexcept { return data_; }

  /// In bytes.
  constexpr std::size_t size() const noexcept { return size_; }

  /// Moves the start forward by `n` bytes, at most to the end.
  const_buffer& operator+=(std::size_t n) noexcept {
    const std::size_t offset = n < size_ ? n : size_;
    data_ = static_cast<const char*>(data_) + offset;
    size_ -= offset;
    return *this;
  }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A buffer that starts `n` bytes later, at most at the end.
inline mutable_buffer operator+(const mutable_buffer& b, std::size_t n) noexcept {
  return mutable_buffer(b) += n;
}
inline mutable_buffer operator+(std::size_t n, const mutable_buffer& b) noexcept {
  return b + n;
}
inline const_buffer operator+(const const_buffer& b, std::size_t n) noexcept {
  return const_buffer(b) += n;
}
inline const_buffer operator+(std::size_t n, const const_buffer& b) noexcept {
  return b + n;
}

namespace detail {

// What may be seen as bytes. Buffers themselves may not: `buffer(vector_of_buffers)` would show the
// addresses instead of what they point to.
template <class T>
concept bytes_element =
    std::is_trivially_copyable_v<T> && !std::is_convertible_v<const T&, const_buffer>;

template <class T>
concept contiguous_bytes =
    !std::is_array_v<T> && (is_byte_span<T> || !std::is_convertible_v<const T&, const_buffer>) &&
    requires(const T& range) {
      std::span(range.begin(), range.end());
      requires bytes_element<std::remove_cvref_t<decltype(*range.begin())>>;
    };

template <class T>
using buffer_over =
    std::conditional_t<std::is_const_v<std::remove_reference_t<T>>, const_buffer, mutable_buffer>;

template <class Buffer>
constexpr Buffer buffer_prefix(const Buffer& b, std::size_t max_size) noexcept {
  return {b.data(), b.size() < max_size ? b.size() : max_size};
}

template <class Range>
constexpr auto buffer_of(Range& range) noexcept {
  const std::span elements(range.begin(), range.end());
  return buffer_over<decltype(*range.begin())>(elements.data(), elements.size_bytes());
}

}  // namespace detail

/// `buffer` makes a buffer over existing memory: over a pointer and a size, another buffer, an
/// array, or whatever has contiguous iterators over trivially copyable elements (std::array,
/// std::vector, std::string, std::string_view, std::span, and the user's own).
///
/// Sizes, and the optional limit `max_size`, are in bytes. The result is a mutable_buffer where the
/// elements can be written to, otherwise a const_buffer. It refers to the memory as it is now:
/// growing or destroying the container invalidates it. A string literal's buffer includes the
/// closing zero. Complexity: constant.
///
///     std::array<char, 128> header;
///     std::vector<char> body(1024);
///     read(socket, std::array{buffer(header), buffer(body)});
constexpr mutable_buffer buffer(const mutable_buffer& b) noexcept {
  return b;
}
constexpr mutable_buffer buffer(const mutable_buffer& b, std::size_t max_size) noexcept {
  return detail::buffer_prefix(b, max_size);
}
constexpr const_buffer buffer(const const_buffer& b) noexcept {
  return b;
}
constexpr const_buffer buffer(const const_buffer& b, std::size_t max_size) noexcept {
  return detail::buffer_prefix(b, max_size);
}

constexpr mutable_buffer buffer(void* data, std::size_t size) noexcept {
  return {data, size};
}
constexpr const_buffer buffer(const void* data, std::size_t size) noexcept {
  return {data, size};
}

template <detail::bytes_element T, std::size_t N>
constexpr auto buffer(T (&data)[N]) noexcept {
  return detail::buffer_over<T>(data, sizeof(data));
}
template <detail::bytes_element T, std::size_t N>
constexpr auto buffer(T (&data)[N], std::size_t max_size) noexcept {
  return detail::buffer_prefix(buffer(data), max_size);
}

template <detail::contiguous_bytes T>
constexpr auto buffer(T& data) noexcept {
  return detail::buffer_of(data);
}
template <detail::contiguous_bytes T>
constexpr auto buffer(T& data, std::size_t max_size) noexcept {
  return detail::buffer_prefix(detail::buffer_of(data), max_size);
}
template <detail::contiguous_bytes T>
constexpr auto buffer(const T& data) noexcept {
  return detail::buffer_of(data);
}
template <detail::contiguous_bytes T>
constexpr auto buffer(const T& data, std::size_t max_size) noexcept {
  return detail::buffer_prefix(detail::buffer_of(data), max_size);
}

}  // namespace WEFT_NAMESPACE
