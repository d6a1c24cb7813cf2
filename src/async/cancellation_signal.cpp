// SPDX-License-Identifier: BSL-1.0
#include <weft/async/cancellation_signal.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

const void* this_thread_key() noexcept {
  static thread_local char key;
  return &key;
}

}  // namespace

cancellation_core::~cancellation_core() {
  remove();
}

void cancellation_core::lock() noexcept {
  const void* const key = this_thread_key();
  if (owner_.load(std::memory_order_relaxed) == key) {
    ++depth_;
    return;
  }
  mutex_.lock();
  owner_.store(key, std::memory_order_relaxed);
}

void cancellation_core::unlock() noexcept {
  if (depth_ > 0) {
    --depth_;
    return;
  }
  if (kept_ != cancellation_type::none && handler_) [[unlikely]] {
    try {
      emit(std::exchange(kept_, cancellation_type::none));
    } catch (...) {
      // Who emitted it, and would be told, has gone on.
    }
  }
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

void cancellation_core::arm() noexcept {
  const locked guard(*this);
  armed_ = true;
  kept_ = cancellation_type::none;
}

void cancellation_core::emit(cancellation_type type) {
  locked guard(*this);
  if (!handler_) {
    if (armed_)
      kept_ |= type;
    return;
  }

  struct call {
    call(cancellation_core& c, cancellation_node* n) noexcept : core(c), node(n) { ++node->calls; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() {
      if (--node->calls == 0 && node->retired)
        core.dispose(node);
    }
    cancellation_core& core;
    cancellation_node* node;
  } current(*this, handler_);
  current.node->call(current.node, type);
}

void cancellation_core::clear() noexcept {
  locked guard(*this);
  remove();
}

bool cancellation_core::has_handler() const noexcept {
  locked guard(const_cast<cancellation_core&>(*this));
  return handler_ != nullptr;
}

void cancellation_core::remove() noexcept {
  while (cancellation_node* node = std::exchange(handler_, nullptr)) {
    if (node->calls > 0)
      node->retired = true;
    else
      dispose(node);
  }
}

void cancellation_core::dispose(cancellation_node* node) noexcept {
  const std::size_t size = node->size;
  const std::size_t alignment = node->alignment;
  node->destroy(node);
  thread_memory::deallocate(node, size, alignment);
}

}  // namespace WEFT_NAMESPACE::detail
