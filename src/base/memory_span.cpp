// SPDX-License-Identifier: BSL-1.0
#include "base/memory_span.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace WEFT_NAMESPACE::detail {

/// Where the blocks of a span are: from a cache line's beginning after the header.
struct memory_span_layout {
  static constexpr std::size_t first = (memory_span::offset + sizeof(memory_span) + 63) / 64 * 64;

  struct map {
    std::uint64_t words[memory_span::words];
    std::uint32_t capacity;
  };

  static constexpr auto maps = [] {
    std::array<map, size_class::count> table{};
    for (unsigned index = 0; index != size_class::count; ++index) {
      const std::size_t size = size_class::sizes[index];
      for (std::size_t at = first; at + size <= memory_span::extent; at += size) {
        const std::size_t bit = at / size_class::granule;
        table[index].words[bit / 64] |= std::uint64_t{1} << bit % 64;
        ++table[index].capacity;
      }
    }
    return table;
  }();
};

memory_span& memory_span::of(const memory_block* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return *reinterpret_cast<memory_span*>((address & ~(extent - 1)) + offset);
}

memory_span::memory_span(unsigned index) noexcept
    : free_(memory_span_layout::maps[index].capacity), capacity_(free_), index_(index) {
  std::copy_n(memory_span_layout::maps[index].words, words, map_);
}

memory_block** memory_span::take(std::uint32_t& n, memory_block** tail) noexcept {
  char* const base = reinterpret_cast<char*>(this) - offset;
  std::uint32_t taken = std::min(n, free_);
  n -= taken;
  free_ -= taken;
  while (taken != 0) {
    std::uint64_t& word = map_[first_word_];
    for (; word != 0 && taken != 0; --taken, word &= word - 1) {
      const std::size_t granule =
          std::size_t{first_word_} * 64 + static_cast<std::size_t>(std::countr_zero(word));
      auto* block = ::new (base + granule * size_class::granule) memory_block;
      *tail = block;
      tail = &block->next;
    }
    if (word == 0)
      ++first_word_;
  }
  return tail;
}

void memory_span::give(const memory_span_part& part) noexcept {
  assert((memory_span_layout::maps[index_].words[part.word] & part.bits) == part.bits &&
         "no block of this class");
  assert((map_[part.word] & part.bits) == 0 && "freed twice");
  map_[part.word] |= part.bits;
  free_ += part.blocks;
  first_word_ = std::min(first_word_, part.word);
}

memory_span_part memory_span_part::take(memory_block*& first) noexcept {
  const auto address = [](const memory_block* b) { return reinterpret_cast<std::uintptr_t>(b); };
  const std::uintptr_t begin = address(first) & ~(memory_span::word_extent - 1);
  memory_span_part part{&memory_span::of(first), 0, 0, 0};
  part.word = static_cast<std::uint32_t>(begin % memory_span::extent / memory_span::word_extent);
  do {
    const std::uint64_t bit = std::uint64_t{1} << (address(first) - begin) / size_class::granule;
    assert((part.bits & bit) == 0 && "freed twice");
    part.bits |= bit;
    ++part.blocks;
    first = first->next;
  } while (first && address(first) - begin < memory_span::word_extent);
  return part;
}

void memory_span_list::push_back(memory_span& span) noexcept {
  span.previous_ = last_;
  span.next_ = nullptr;
  (last_ ? last_->next_ : first_) = &span;
  last_ = &span;
}

void memory_span_list::erase(memory_span& span) noexcept {
  (span.previous_ ? span.previous_->next_ : first_) = span.next_;
  (span.next_ ? span.next_->previous_ : last_) = span.previous_;
}

}  // namespace WEFT_NAMESPACE::detail
