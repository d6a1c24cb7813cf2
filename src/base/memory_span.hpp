// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// A list of blocks of one class, in the order in which they will be taken.
struct memory_batch {
  memory_block* first = nullptr;
  std::uint32_t size = 0;
};

struct memory_span_part;

/// 64 KiB, aligned, of blocks of one class. Which are free is told by a bitmap in the header, one
/// bit per granule, at a block's first: so a fresh span costs no touch of its blocks, and blocks
/// are taken in the order of their addresses. The header is found by masking a block's address.
/// Guarded by the mutex of the class's store.
class memory_span {
 public:
  static constexpr std::size_t extent = std::size_t{64} * 1024;
  /// Bytes before the header, in each span: the first of a region has the region's header there.
  static constexpr std::size_t offset = 64;

  static memory_span& of(const memory_block* block) noexcept;

  explicit memory_span(unsigned index) noexcept;

  unsigned index() const noexcept { return index_; }
  bool empty() const noexcept { return free_ == 0; }
  bool whole() const noexcept { return free_ == capacity_; }

  /// Takes up to `n` free blocks; `tail` is the link that is to name the first of them.
  /// Returns the link after the last.
  memory_block** take(std::uint32_t& n, memory_block** tail) noexcept;
  void give(const memory_span_part& part) noexcept;

 private:
  friend class memory_span_list;
  friend struct memory_span_layout;
  friend struct memory_span_part;

  static constexpr std::size_t words = extent / size_class::granule / 64;

  static constexpr std::size_t word_extent = 64 * size_class::granule;  // bytes

  memory_span* previous_ = nullptr;  // in the list of the class's spans with free blocks
  memory_span* next_ = nullptr;
  std::uint32_t free_;
  std::uint32_t capacity_;
  std::uint32_t first_word_ = 0;  // no word before it has a bit
  std::uint32_t index_;
  std::uint64_t map_[words];
};

/// Some blocks of a span: those whose bits share a word of its bitmap.
struct memory_span_part {
  memory_span* span;
  std::uint32_t word;
  std::uint32_t blocks;
  std::uint64_t bits;

  /// Takes the blocks at the beginning of a list that are such a part. Touches nothing but these.
  static memory_span_part take(memory_block*& first) noexcept;
};

/// Spans in the order in which they became members.
class memory_span_list {
 public:
  memory_span* front() const noexcept { return first_; }
  void push_back(memory_span& span) noexcept;
  void erase(memory_span& span) noexcept;

 private:
  memory_span* first_ = nullptr;
  memory_span* last_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
