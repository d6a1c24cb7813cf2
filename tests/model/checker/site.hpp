// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace model::detail {

enum class access_kind : unsigned char { load, store, modify, barrier };

/// A place in the source that accesses an atomic object with one memory order. The two orders of a
/// compare-exchange are two sites.
struct site {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  const char* operation = "";
  access_kind kind = access_kind::load;
  std::memory_order order = std::memory_order_seq_cst;  // as written
  std::memory_order used = std::memory_order_seq_cst;   // as executed: it may be weakened
  bool is_left_out = false;                             // of a barrier: as executed
  std::uint64_t uses = 0;

  std::string name() const;
};

/// An access under way: where, and with which order.
struct access {
  site* at;
  std::source_location where;

  std::memory_order order() const noexcept { return at->used; }
  const char* operation() const noexcept { return at->operation; }
};

/// All sites that have been executed, in the order of their first use; each once.
std::vector<site*> all_sites();

access make_access(const char* operation, access_kind kind, std::memory_order order,
                   const std::source_location& where);

const char* to_string(std::memory_order order);

inline bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst || order == std::memory_order_consume;
}
inline bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace model::detail
