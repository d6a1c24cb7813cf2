// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstring>

#include <weft/io/buffer_sequence.hpp>

namespace WEFT_NAMESPACE {

/// Copies bytes from the buffers of `source` into those of `target`, each filled before the next,
/// until either is used up or `max_size` bytes have been copied. Returns the number of bytes. The
/// memory must not overlap. Complexity: linear in the bytes and in the number of buffers.
template <detail::mutable_sequence Target, detail::const_sequence Source>
std::size_t buffer_copy(const Target& target, const Source& source, std::size_t max_size) noexcept {
  std::size_t copied = 0;
  auto to = buffer_sequence_begin(target);
  auto from = buffer_sequence_begin(source);
  const auto to_end = buffer_sequence_end(target);
  const auto from_end = buffer_sequence_end(source);
  std::size_t to_offset = 0;
  std::size_t from_offset = 0;
  while (to != to_end && from != from_end && copied != max_size) {
    const mutable_buffer target_whole = *to;
    const mutable_buffer target_rest = target_whole + to_offset;
    const const_buffer source_rest = detail::to_const_buffer(*from) + from_offset;
    std::size_t n =
        target_rest.size() < source_rest.size() ? target_rest.size() : source_rest.size();
    if (n > max_size - copied)
      n = max_size - copied;
    if (n != 0)
      std::memcpy(target_rest.data(), source_rest.data(), n);
    copied += n;
    to_offset += n;
    from_offset += n;
    if (n == target_rest.size()) {
      ++to;
      to_offset = 0;
    }
    if (n == source_rest.size()) {
      ++from;
      from_offset = 0;
    }
  }
  return copied;
}

template <detail::mutable_sequence Target, detail::const_sequence Source>
std::size_t buffer_copy(const Target& target, const Source& source) noexcept {
  return buffer_copy(target, source, static_cast<std::size_t>(-1));
}

}  // namespace WEFT_NAMESPACE
