// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer_sequence.hpp>

namespace WEFT_NAMESPACE::detail {

/// One entry of the list that scatter-gather calls take: laid out as struct iovec of <sys/uio.h>,
/// which src/io/buffer_sequence_adapter.cpp checks.
struct io_vector {
  void* base;
  std::size_t size;
};

/// The most buffers that one call transfers. A longer sequence is transferred in several.
inline constexpr std::size_t max_io_vectors = 64;

/// A buffer sequence as what system calls take: one buffer where the type allows it, otherwise a
/// list of at most max_io_vectors entries on the stack, of only as many as the type can have.
/// `Buffer` is mutable_buffer for reads, const_buffer for writes. `Max` bounds the list further,
/// where a partial transfer is as good and the adapter is kept in an operation.
template <class Buffer, class Sequence, std::size_t Max = max_io_vectors>
class buffer_sequence_adapter {
 public:
  static constexpr bool is_single_buffer = detail::is_single_buffer<Sequence>;
  static constexpr std::size_t capacity = static_size<Sequence> == 0    ? 1
                                          : static_size<Sequence> < Max ? static_size<Sequence>
                                                                        : Max;

  /// Empty buffers are left out, so that a sequence with bytes in it never looks like one without.
  explicit buffer_sequence_adapter(const Sequence& sequence) noexcept {
    const auto end = buffer_sequence_end(sequence);
    for (auto it = buffer_sequence_begin(sequence); it != end && count_ < capacity; ++it) {
      const Buffer b = to_buffer(*it);
      if (b.size() == 0)
        continue;
      vectors_[count_++] = {const_cast<void*>(static_cast<const void*>(b.data())), b.size()};
      total_size_ += b.size();
    }
  }

  const io_vector* vectors() const noexcept { return vectors_; }
  io_vector* vectors() noexcept { return vectors_; }
  std::size_t count() const noexcept { return count_; }

  /// In bytes, of what the list holds.
  std::size_t total_size() const noexcept { return total_size_; }
  bool all_empty() const noexcept { return total_size_ == 0; }

  /// The first buffer that is not empty; an empty one if all are.
  static Buffer first(const Sequence& sequence) noexcept {
    const auto end = buffer_sequence_end(sequence);
    for (auto it = buffer_sequence_begin(sequence); it != end; ++it) {
      const Buffer b = to_buffer(*it);
      if (is_single_buffer || b.size() != 0)
        return b;
    }
    return {};
  }

  static bool all_empty(const Sequence& sequence) noexcept { return first(sequence).size() == 0; }

 private:
  template <class Element>
  static Buffer to_buffer(const Element& element) noexcept {
    if constexpr (std::is_same_v<Buffer, const_buffer>)
      return to_const_buffer(element);
    else
      return element;
  }

  io_vector vectors_[capacity];
  std::size_t count_ = 0;
  std::size_t total_size_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
