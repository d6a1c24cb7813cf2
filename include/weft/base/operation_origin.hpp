// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <weft/base/operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// Who remembers where operations are made, while somebody wants to know (observe/).
struct origin_hooks {
  /// The calling thread starts or queues the operation for the program.
  void (*note)(const operation*) noexcept;
  /// What was noted for it last, or null; observe/ knows what it points at. It stays valid.
  const void* (*find)(const operation*) noexcept;
};

/// Null while nobody wants to know.
WEFT_API extern constinit std::atomic<const origin_hooks*> operation_origin_hooks;

/// The operation is made by the function that starts it.
inline void note_start(const operation* op) noexcept {
  if (const auto* hooks = operation_origin_hooks.load(std::memory_order_relaxed)) [[unlikely]]
    hooks->note(op);
}

/// The operation is queued: by the function that made it, unless it was started before.
inline void note_queued(const operation* op) noexcept {
  if (const auto* hooks = operation_origin_hooks.load(std::memory_order_relaxed)) [[unlikely]]
    if (!operation_description(op->ending()).is_started())
      hooks->note(op);
}

/// Stores the origin of an operation that is about to run; who acquires it may read what it is.
inline void find_origin(const operation* op, std::atomic<const void*>& origin) noexcept {
  if (const auto* hooks = operation_origin_hooks.load(std::memory_order_relaxed)) [[unlikely]]
    origin.store(hooks->find(op), std::memory_order_release);
}

}  // namespace WEFT_NAMESPACE::detail
