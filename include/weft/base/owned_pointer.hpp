// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Owns an object, which `End()(object)` ends: the few members of a std::unique_ptr that headers
/// need, at a fraction of what that costs the compiler.
template <class T, class End>
class owned_pointer {
 public:
  owned_pointer() = default;
  explicit owned_pointer(T* object) noexcept : object_(object) {}
  owned_pointer(owned_pointer&& other) noexcept : object_(other.release()) {}
  owned_pointer& operator=(owned_pointer&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~owned_pointer() { reset(); }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  T* release() noexcept {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }
  void reset(T* object = nullptr) noexcept {
    T* const ended = object_;
    object_ = object;
    if (ended)
      End()(ended);
  }

 private:
  T* object_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
