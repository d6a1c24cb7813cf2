// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/io/completion_condition.hpp>
#include <weft/io/dynamic_buffer.hpp>
#include <weft/io/streambuf.hpp>

namespace WEFT_NAMESPACE::detail {

/// Either version of a dynamic buffer by one interface, that of version 1.
template <class DynamicBuffer>
class dynamic_target {
 public:
  using const_buffers_type = typename DynamicBuffer::const_buffers_type;
  using mutable_buffers_type = typename DynamicBuffer::mutable_buffers_type;

  template <class D>
    requires std::constructible_from<DynamicBuffer, D>
  explicit dynamic_target(D&& buffers) : buffers_(std::forward<D>(buffers)) {}

  std::size_t size() const { return buffers_.size(); }
  bool full() const { return size() >= buffers_.max_size(); }

  /// How many bytes to make room for in the next read. The result is 0 only if it is full.
  ///
  /// A limit from the caller's condition is taken as a sign of how much is coming. Without one the
  /// room that costs no allocation is used, and 512 bytes at least, which lets the container grow
  /// by its own policy. No step makes room for more than 64 KiB of what may never come.
  std::size_t read_size(std::size_t limit) const {
    const std::size_t capacity = buffers_.capacity();
    const std::size_t used = size();
    std::size_t wanted = capacity > used + min_read ? capacity - used : min_read;
    if (limit != no_limit)
      wanted = limit;
    if (wanted > max_read)
      wanted = max_read;
    const std::size_t room = full() ? 0 : buffers_.max_size() - used;
    return wanted < room ? wanted : room;
  }

  const_buffers_type data() const {
    if constexpr (dynamic_buffer_v2<DynamicBuffer>)
      return buffers_.data(0, buffers_.size());
    else
      return buffers_.data();
  }

  mutable_buffers_type prepare(std::size_t n) {
    prepared_ = n;
    if constexpr (dynamic_buffer_v2<DynamicBuffer>) {
      const std::size_t position = buffers_.size();
      buffers_.grow(n);
      return buffers_.data(position, n);
    } else {
      return buffers_.prepare(n);
    }
  }

  /// Keeps the first `n` of the bytes prepared. To be called once after each `prepare`.
  void commit(std::size_t n) {
    if constexpr (dynamic_buffer_v2<DynamicBuffer>)
      buffers_.shrink(prepared_ - (n < prepared_ ? n : prepared_));
    else
      buffers_.commit(n);
  }

  void consume(std::size_t n) { buffers_.consume(n); }

 private:
  static constexpr std::size_t min_read = 512;
  static constexpr std::size_t max_read = 65536;

  DynamicBuffer buffers_;
  std::size_t prepared_ = 0;
};

/// What reads and writes take besides buffer sequences.
template <class T>
concept dynamic_buffer_argument =
    dynamic_buffer_v1<std::decay_t<T>> || dynamic_buffer_v2<std::decay_t<T>>;

template <dynamic_buffer_argument T>
auto make_dynamic_target(T&& buffers) {
  return dynamic_target<std::decay_t<T>>(std::forward<T>(buffers));
}
template <class Allocator>
auto make_dynamic_target(basic_streambuf<Allocator>& sb) {
  return dynamic_target<basic_streambuf_ref<Allocator>>(basic_streambuf_ref<Allocator>(sb));
}

template <class T>
concept makes_dynamic_target = requires(T&& t) { make_dynamic_target(std::forward<T>(t)); };

template <class T>
using dynamic_target_t = decltype(make_dynamic_target(std::declval<T>()));

}  // namespace WEFT_NAMESPACE::detail
