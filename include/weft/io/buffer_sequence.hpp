// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/io/buffer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T>
concept buffer_itself = std::is_convertible_v<const T*, const mutable_buffer*> ||
                        std::is_convertible_v<const T*, const const_buffer*>;

template <class T>
concept converts_to_buffer = std::is_convertible_v<const T&, mutable_buffer> ||
                             std::is_convertible_v<const T&, const_buffer>;

template <class T>
concept buffer_range = !buffer_itself<T> && !converts_to_buffer<T>;

}  // namespace detail

/// The first element of a buffer sequence. A sequence is a buffer, an object that converts to one,
/// or a range with bidirectional iterators whose elements convert to one. A type of the user's own
/// needs only `begin()` and `end()`, or a conversion.
template <class T>
  requires std::is_convertible_v<const T*, const mutable_buffer*>
const mutable_buffer* buffer_sequence_begin(const T& b) noexcept {
  return &static_cast<const mutable_buffer&>(b);
}
template <class T>
  requires std::is_convertible_v<const T*, const const_buffer*>
const const_buffer* buffer_sequence_begin(const T& b) noexcept {
  return &static_cast<const const_buffer&>(b);
}
template <class T>
  requires(detail::converts_to_buffer<T> && !detail::buffer_itself<T>)
const T* buffer_sequence_begin(const T& b) noexcept {
  return std::addressof(b);
}
template <detail::buffer_range T>
auto buffer_sequence_begin(T& sequence) noexcept -> decltype(sequence.begin()) {
  return sequence.begin();
}
template <detail::buffer_range T>
auto buffer_sequence_begin(const T& sequence) noexcept -> decltype(sequence.begin()) {
  return sequence.begin();
}

/// One past the last element of a buffer sequence.
template <class T>
  requires std::is_convertible_v<const T*, const mutable_buffer*>
const mutable_buffer* buffer_sequence_end(const T& b) noexcept {
  return &static_cast<const mutable_buffer&>(b) + 1;
}
template <class T>
  requires std::is_convertible_v<const T*, const const_buffer*>
const const_buffer* buffer_sequence_end(const T& b) noexcept {
  return &static_cast<const const_buffer&>(b) + 1;
}
template <class T>
  requires(detail::converts_to_buffer<T> && !detail::buffer_itself<T>)
const T* buffer_sequence_end(const T& b) noexcept {
  return std::addressof(b) + 1;
}
template <detail::buffer_range T>
auto buffer_sequence_end(T& sequence) noexcept -> decltype(sequence.end()) {
  return sequence.end();
}
template <detail::buffer_range T>
auto buffer_sequence_end(const T& sequence) noexcept -> decltype(sequence.end()) {
  return sequence.end();
}

namespace detail {

template <class T, class Buffer>
concept sequence_of = std::copy_constructible<T> && requires(const T& sequence) {
  { buffer_sequence_begin(sequence) } -> std::bidirectional_iterator;
  { buffer_sequence_end(sequence) } -> std::same_as<decltype(buffer_sequence_begin(sequence))>;
  requires std::is_convertible_v<decltype(*buffer_sequence_begin(sequence)), Buffer>;
};

template <class T>
concept mutable_sequence = sequence_of<T, mutable_buffer>;

template <class T>
concept const_sequence = sequence_of<T, const_buffer> || mutable_sequence<T>;

template <class Sequence>
using sequence_iterator = decltype(buffer_sequence_begin(std::declval<const Sequence&>()));

// How many buffers a sequence has at most, by its type: 1 for a buffer or what converts to one, N
// for std::array and its like, otherwise unknown_size.
inline constexpr std::size_t unknown_size = static_cast<std::size_t>(-1);
template <class Sequence>
inline constexpr std::size_t static_size =
    buffer_range<Sequence> && requires(const Sequence& s) { s.begin(); } ? unknown_size : 1;
template <template <class, std::size_t> class Array, class Buffer, std::size_t N>
  requires buffer_range<Array<Buffer, N>> && (std::tuple_size<Array<Buffer, N>>::value == N)
inline constexpr std::size_t static_size<Array<Buffer, N>> = N;

/// Whether a sequence is one buffer by its type. What follows from it (a plain read instead of a
/// scattered one) is decided at compile time.
template <class Sequence>
inline constexpr bool is_single_buffer = static_size<Sequence> == 1;

/// An element of a sequence as a buffer. (An element may convert to mutable_buffer only, and what
/// converts to both would be ambiguous as a constructor's argument.)
template <class Element>
constexpr const_buffer to_const_buffer(const Element& element) noexcept {
  if constexpr (std::is_convertible_v<const Element&, const_buffer>) {
    return element;
  } else {
    const mutable_buffer b = element;
    return b;
  }
}

}  // namespace detail

/// True where `T` meets the requirements of a mutable buffer sequence (something to read into).
template <class T>
struct is_mutable_buffer_sequence : std::bool_constant<detail::mutable_sequence<T>> {};

/// True where `T` meets the requirements of a constant buffer sequence (something to write from).
template <class T>
struct is_const_buffer_sequence : std::bool_constant<detail::const_sequence<T>> {};

/// The sum of the sizes of the buffers, in bytes. Complexity: linear in the number of buffers.
template <detail::const_sequence Sequence>
std::size_t buffer_size(const Sequence& sequence) noexcept {
  std::size_t total = 0;
  const auto end = buffer_sequence_end(sequence);
  for (auto it = buffer_sequence_begin(sequence); it != end; ++it)
    total += detail::to_const_buffer(*it).size();
  return total;
}

}  // namespace WEFT_NAMESPACE
