// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer_sequence.hpp>

namespace WEFT_NAMESPACE::detail {

/// The next part of a buffer sequence: a sequence in its own right that fits a stream's call.
template <class Buffer, std::size_t Capacity>
class buffer_batch {
 public:
  using value_type = Buffer;
  using const_iterator = const Buffer*;

  const Buffer* begin() const noexcept { return buffers_; }
  const Buffer* end() const noexcept { return buffers_ + count_; }

  bool full() const noexcept { return count_ == Capacity; }
  void push_back(const Buffer& b) noexcept { buffers_[count_++] = b; }

 private:
  Buffer buffers_[Capacity];
  std::size_t count_ = 0;
};

/// A buffer sequence that is used up from its front. It holds a copy of the sequence and may be
/// moved between `prepare` and `consume`. Constant time per call and buffer consumed, but for the
/// way to the first buffer left in a sequence without random access.
template <class Buffer, class Sequence>
class consuming_buffers {
  // A batch travels inside the operation that transfers it, so it is smaller than what a single
  // system call could take.
  static constexpr std::size_t batch_capacity =
      static_size<Sequence> < 16 ? static_size<Sequence> : 16;
  using batch = buffer_batch<Buffer, batch_capacity == 0 ? 1 : batch_capacity>;

 public:
  explicit consuming_buffers(const Sequence& sequence)
      : sequence_(sequence), remaining_(buffer_size(sequence)) {}

  bool empty() const noexcept { return remaining_ == 0; }

  /// The next bytes, at most `max_size`.
  batch prepare(std::size_t max_size) const {
    batch next;
    auto it = position();
    const auto end = buffer_sequence_end(sequence_);
    for (std::size_t offset = offset_; it != end && max_size != 0 && !next.full(); ++it) {
      const Buffer b = buffer(to_buffer(*it) + offset, max_size);
      offset = 0;
      if (b.size() == 0)
        continue;
      max_size -= b.size();
      next.push_back(b);
    }
    return next;
  }

  void consume(std::size_t n) {
    remaining_ -= n < remaining_ ? n : remaining_;
    offset_ += n;
    auto it = position();
    for (const auto end = buffer_sequence_end(sequence_); it != end; ++it, ++index_) {
      const std::size_t size = to_buffer(*it).size();
      if (offset_ < size)
        return;
      offset_ -= size;
    }
  }

 private:
  auto position() const {
    auto it = buffer_sequence_begin(sequence_);
    if constexpr (requires { it += 1; }) {
      it += static_cast<std::ptrdiff_t>(index_);
    } else {
      for (std::size_t i = 0; i != index_; ++i)
        ++it;
    }
    return it;
  }

  template <class Element>
  static Buffer to_buffer(const Element& element) {
    if constexpr (std::is_same_v<Buffer, const_buffer>)
      return to_const_buffer(element);
    else
      return element;
  }

  Sequence sequence_;
  std::size_t remaining_;
  std::size_t index_ = 0;   // of the first buffer that is not used up
  std::size_t offset_ = 0;  // into it
};

/// Whether a buffer is given to the stream as the type it came as, because that type says more than
/// where the bytes are.
template <class T>
inline constexpr bool keeps_its_type = false;

// Of one buffer nothing has to be kept but what is left of it.
template <class Buffer, class Sequence>
  requires is_single_buffer<Sequence>
class consuming_buffers<Buffer, Sequence> {
  using single = std::conditional_t<keeps_its_type<Sequence>, Sequence, Buffer>;

 public:
  explicit consuming_buffers(const Sequence& sequence) : left_(only(sequence)) {}

  bool empty() const noexcept { return left_.size() == 0; }
  single prepare(std::size_t max_size) const noexcept { return buffer(left_, max_size); }
  void consume(std::size_t n) noexcept { left_ += n; }

 private:
  static single only(const Sequence& sequence) {
    if constexpr (keeps_its_type<Sequence>)
      return sequence;
    else if constexpr (std::is_same_v<Buffer, const_buffer>)
      return to_const_buffer(*buffer_sequence_begin(sequence));
    else
      return *buffer_sequence_begin(sequence);
  }

  single left_;
};

}  // namespace WEFT_NAMESPACE::detail
