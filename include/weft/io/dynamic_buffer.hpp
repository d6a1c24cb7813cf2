// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/io/buffer_sequence.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T>
concept dynamic_buffer_sizes = requires(const T& x) {
  requires const_sequence<typename T::const_buffers_type>;
  requires mutable_sequence<typename T::mutable_buffers_type>;
  { x.size() } -> std::convertible_to<std::size_t>;
  { x.max_size() } -> std::convertible_to<std::size_t>;
  { x.capacity() } -> std::convertible_to<std::size_t>;
};

template <class T>
concept dynamic_buffer_v1 = std::move_constructible<T> && dynamic_buffer_sizes<T> &&
                            requires(T& x, const T& x1, std::size_t n) {
                              { x1.data() } -> std::convertible_to<typename T::const_buffers_type>;
                              {
                                x.prepare(n)
                              } -> std::convertible_to<typename T::mutable_buffers_type>;
                              x.commit(n);
                              x.consume(n);
                            };

template <class T>
concept dynamic_buffer_v2 = std::copy_constructible<T> && dynamic_buffer_sizes<T> &&
                            requires(T& x, const T& x1, std::size_t n) {
                              {
                                x1.data(n, n)
                              } -> std::convertible_to<typename T::const_buffers_type>;
                              {
                                x.data(n, n)
                              } -> std::convertible_to<typename T::mutable_buffers_type>;
                              x.grow(n);
                              x.shrink(n);
                              x.consume(n);
                            };

}  // namespace detail

/// True where `T` meets version 1 of the dynamic buffer requirements: an input sequence (`data`,
/// `consume`) followed by an output sequence (`prepare`, `commit`).
template <class T>
struct is_dynamic_buffer_v1 : std::bool_constant<detail::dynamic_buffer_v1<T>> {};

/// True where `T` meets version 2 of the dynamic buffer requirements: copyable, one stretch of
/// memory that grows and shrinks at its end (`data(position, n)`, `grow`, `shrink`, `consume`).
template <class T>
struct is_dynamic_buffer_v2 : std::bool_constant<detail::dynamic_buffer_v2<T>> {};

template <class T>
struct is_dynamic_buffer : is_dynamic_buffer_v1<T> {};

/// A resizable container of bytes as a dynamic buffer of either version, at most `max_size` bytes
/// long. It refers to the container, which must outlive it and its copies; changing the container,
/// or the dynamic buffer, invalidates the buffers got before. Not thread-safe.
///
/// Version 1 keeps the output sequence at the container's end between `prepare` and `commit`; at
/// all other times the container holds the input sequence alone.
template <class Container>
class dynamic_container_buffer {
  static_assert(sizeof(typename Container::value_type) == 1, "a dynamic buffer is made of bytes");

 public:
  using const_buffers_type = const_buffer;
  using mutable_buffers_type = mutable_buffer;

  explicit dynamic_container_buffer(
      Container& container,
      std::size_t maximum_size = (std::numeric_limits<std::size_t>::max)()) noexcept
      : container_(&container), max_size_(maximum_size) {}

  /// In bytes: of the input sequence (version 1), of the memory (version 2); at most max_size().
  std::size_t size() const noexcept {
    return least(container_->size(), least(input_size_, max_size_));
  }
  std::size_t max_size() const noexcept { return max_size_; }

  /// The size, in bytes, up to which the container grows without reallocating.
  std::size_t capacity() const noexcept { return least(container_->capacity(), max_size_); }

  /// Version 1: the input sequence.
  const_buffer data() const noexcept { return {container_->data(), size()}; }

  /// Version 2: at most `n` bytes from `position` on.
  mutable_buffer data(std::size_t position, std::size_t n) noexcept {
    return buffer(mutable_buffer(container_->data(), size()) + position, n);
  }
  const_buffer data(std::size_t position, std::size_t n) const noexcept {
    return buffer(data() + position, n);
  }

  /// Version 1: an output sequence of `n` bytes. Throws std::length_error if size() + n would
  /// exceed max_size(), and what the container throws; nothing has changed then.
  mutable_buffer prepare(std::size_t n) {
    const std::size_t old_size = size();
    resize_by(old_size, n);
    input_size_ = old_size;
    return {container_->data() + old_size, n};
  }

  /// Version 1: appends the first `n` bytes of the output sequence, or all if it is shorter, to the
  /// input sequence and drops the rest of it.
  void commit(std::size_t n) {
    const std::size_t old_size = size();
    container_->resize(old_size + least(n, container_->size() - old_size));
    input_size_ = unlimited;
  }

  /// Version 2: appends `n` bytes of unspecified value. Throws as prepare() does.
  void grow(std::size_t n) { resize_by(size(), n); }

  /// Version 2: removes the last `n` bytes, or all if there are fewer.
  void shrink(std::size_t n) {
    const std::size_t old_size = size();
    container_->resize(old_size - least(n, old_size));
  }

  /// Removes the first `n` bytes, or all if there are fewer. Linear in what remains.
  void consume(std::size_t n) {
    const std::size_t removed = least(n, size());
    container_->erase(container_->begin(),
                      container_->begin() + static_cast<std::ptrdiff_t>(removed));
    if (input_size_ != unlimited)
      input_size_ -= removed;
  }

 private:
  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  static std::size_t least(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

  void resize_by(std::size_t old_size, std::size_t n) {
    if (n > max_size_ - old_size)
      throw std::length_error("a dynamic buffer would exceed its maximum size");
    container_->resize(old_size + n);
  }

  Container* container_;
  std::size_t max_size_;
  std::size_t input_size_ = unlimited;  // limited while an output sequence follows the input
};

/// A std::basic_string of one-byte characters as a dynamic buffer.
template <class Elem, class Traits, class Allocator>
class dynamic_string_buffer
    : public dynamic_container_buffer<std::basic_string<Elem, Traits, Allocator>> {
 public:
  using dynamic_container_buffer<
      std::basic_string<Elem, Traits, Allocator>>::dynamic_container_buffer;
};

/// A std::vector of one-byte elements as a dynamic buffer.
template <class Elem, class Allocator>
class dynamic_vector_buffer : public dynamic_container_buffer<std::vector<Elem, Allocator>> {
 public:
  using dynamic_container_buffer<std::vector<Elem, Allocator>>::dynamic_container_buffer;
};

/// Makes a dynamic buffer over a string or a vector, which must outlive it. What the container
/// holds already counts as data received before. `max_size` is in bytes.
///
///     std::string line;
///     std::size_t n = read_until(socket, dynamic_buffer(line, 4096), '\n');
template <class Elem, class Traits, class Allocator>
dynamic_string_buffer<Elem, Traits, Allocator> dynamic_buffer(
    std::basic_string<Elem, Traits, Allocator>& data) noexcept {
  return dynamic_string_buffer<Elem, Traits, Allocator>(data);
}
template <class Elem, class Traits, class Allocator>
dynamic_string_buffer<Elem, Traits, Allocator> dynamic_buffer(
    std::basic_string<Elem, Traits, Allocator>& data, std::size_t max_size) noexcept {
  return dynamic_string_buffer<Elem, Traits, Allocator>(data, max_size);
}
template <class Elem, class Allocator>
dynamic_vector_buffer<Elem, Allocator> dynamic_buffer(std::vector<Elem, Allocator>& data) noexcept {
  return dynamic_vector_buffer<Elem, Allocator>(data);
}
template <class Elem, class Allocator>
dynamic_vector_buffer<Elem, Allocator> dynamic_buffer(std::vector<Elem, Allocator>& data,
                                                      std::size_t max_size) noexcept {
  return dynamic_vector_buffer<Elem, Allocator>(data, max_size);
}

}  // namespace WEFT_NAMESPACE
