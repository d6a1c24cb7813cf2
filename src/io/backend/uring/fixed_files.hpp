// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include <weft/base/config.hpp>

#include "base/home_process.hpp"

namespace WEFT_NAMESPACE::detail {

class ring;

/// The descriptors registered with a ring: a request that names an entry of this table, not the
/// descriptor, need not look that up. The table is sparse (Linux 5.19) and made when the first
/// descriptor comes.
///
/// An entry holds the open file, as a duplicate of the descriptor would. So it must be emptied
/// before the descriptor is closed or given away, after the last request on it has ended. Before
/// Linux 6.13 that was not enough: the file was kept until every request on the ring's entries had
/// ended that was begun before, also those on others. There the table must not be used.
///
/// Thread-safe, for rings that any thread may enter. add and remove are O(1), and a system call.
class fixed_files {
 public:
  static constexpr unsigned capacity = 4096;
  static constexpr int none = -1;

  /// Whether the kernel lets go of a file when its entry is emptied: found out by trying, once.
  WEFT_API static bool usable() noexcept;

  /// An entry for the descriptor, or `none`: the table is full, or has been refused, as has been a
  /// descriptor that cannot be registered.
  int add(ring& ring, int fd) noexcept;

  /// Empties an entry. In a child of a fork that has not made its own ring, this does nothing: the
  /// ring and its table are the parent's.
  void remove(ring& ring, int entry) noexcept;

  /// How many entries are in use.
  unsigned size() const noexcept;

  /// The ring is another now, with no table.
  void forget() noexcept;

 private:
  int take_entry(ring& ring) noexcept;
  void give_back(int entry) noexcept;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<std::uint64_t, capacity / 64> used_{};  // a bit for each entry
  unsigned size_ = 0;
  unsigned limit_ = 0;  // the entries that the table has
  bool asked_ = false;  // for a table
  home_process owner_;  // made it
};

}  // namespace WEFT_NAMESPACE::detail
