// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer_sequence.hpp>
#include <weft/io/consuming_buffers.hpp>

namespace WEFT_NAMESPACE {

namespace detail {
struct registered_buffer_access;
}

/// Names a registered buffer within its context. Default-constructed it names none.
class registered_buffer_id {
 public:
  using native_handle_type = int;

  constexpr registered_buffer_id() noexcept = default;

  /// The index of the buffer in its registration, -1 if it names none.
  constexpr native_handle_type native_handle() const noexcept { return index_; }

  friend constexpr bool operator==(const registered_buffer_id&,
                                   const registered_buffer_id&) noexcept = default;

 private:
  friend detail::registered_buffer_access;

  const void* scope_ = nullptr;  // the backend that knows the buffer, if one does
  native_handle_type index_ = -1;
};

/// A registered buffer that may be written to: a mutable buffer sequence of one element, which an
/// operation of the same context transfers without mapping its memory first. On a backend that has
/// no use for the registration it is an ordinary buffer. Got from a buffer_registration, which must
/// outlive its use; cheap to copy.
class mutable_registered_buffer {
 public:
  /// An empty buffer that is not registered.
  constexpr mutable_registered_buffer() noexcept = default;

  constexpr const mutable_buffer& buffer() const noexcept { return buffer_; }
  constexpr void* data() const noexcept { return buffer_.data(); }

  /// In bytes.
  constexpr std::size_t size() const noexcept { return buffer_.size(); }
  constexpr const registered_buffer_id& id() const noexcept { return id_; }

  /// Moves the start forward by `n` bytes, at most to the end.
  mutable_registered_buffer& operator+=(std::size_t n) noexcept {
    buffer_ += n;
    return *this;
  }

 private:
  friend detail::registered_buffer_access;

  mutable_buffer buffer_;
  registered_buffer_id id_;
};

/// A registered buffer that may only be read; else as mutable_registered_buffer, which converts to
/// it.
class const_registered_buffer {
 public:
  /// An empty buffer that is not registered.
  constexpr const_registered_buffer() noexcept = default;
  constexpr const_registered_buffer(const mutable_registered_buffer& b) noexcept
      : buffer_(b.buffer()), id_(b.id()) {}

  constexpr const const_buffer& buffer() const noexcept { return buffer_; }
  constexpr const void* data() const noexcept { return buffer_.data(); }

  /// In bytes.
  constexpr std::size_t size() const noexcept { return buffer_.size(); }
  constexpr const registered_buffer_id& id() const noexcept { return id_; }

  /// Moves the start forward by `n` bytes, at most to the end.
  const_registered_buffer& operator+=(std::size_t n) noexcept {
    buffer_ += n;
    return *this;
  }

 private:
  friend detail::registered_buffer_access;

  const_buffer buffer_;
  registered_buffer_id id_;
};

namespace detail {

/// How the library makes registered buffers, and how a backend recognises its own.
struct registered_buffer_access {
  static mutable_registered_buffer make(const mutable_buffer& b, const void* scope,
                                        int index) noexcept {
    mutable_registered_buffer made;
    made.buffer_ = b;
    made.id_.scope_ = scope;
    made.id_.index_ = index;
    return made;
  }

  template <class RegisteredBuffer>
  static RegisteredBuffer prefix(RegisteredBuffer b, std::size_t max_size) noexcept {
    b.buffer_ = WEFT_NAMESPACE::buffer(b.buffer_, max_size);
    return b;
  }

  /// What the backend that took the registration returned for it, or null.
  static const void* scope(const registered_buffer_id& id) noexcept { return id.scope_; }
};

template <>
inline constexpr bool keeps_its_type<mutable_registered_buffer> = true;
template <>
inline constexpr bool keeps_its_type<const_registered_buffer> = true;

}  // namespace detail

/// A registered buffer that starts `n` bytes later, at most at the end.
inline mutable_registered_buffer operator+(const mutable_registered_buffer& b,
                                           std::size_t n) noexcept {
  return mutable_registered_buffer(b) += n;
}
inline mutable_registered_buffer operator+(std::size_t n,
                                           const mutable_registered_buffer& b) noexcept {
  return b + n;
}
inline const_registered_buffer operator+(const const_registered_buffer& b, std::size_t n) noexcept {
  return const_registered_buffer(b) += n;
}
inline const_registered_buffer operator+(std::size_t n, const const_registered_buffer& b) noexcept {
  return b + n;
}

/// The registered buffer, or its first `max_size` bytes.
inline mutable_registered_buffer buffer(const mutable_registered_buffer& b) noexcept {
  return b;
}
inline mutable_registered_buffer buffer(const mutable_registered_buffer& b,
                                        std::size_t max_size) noexcept {
  return detail::registered_buffer_access::prefix(b, max_size);
}
inline const_registered_buffer buffer(const const_registered_buffer& b) noexcept {
  return b;
}
inline const_registered_buffer buffer(const const_registered_buffer& b,
                                      std::size_t max_size) noexcept {
  return detail::registered_buffer_access::prefix(b, max_size);
}

/// As for a buffer: a sequence of one.
inline const mutable_buffer* buffer_sequence_begin(const mutable_registered_buffer& b) noexcept {
  return &b.buffer();
}
inline const const_buffer* buffer_sequence_begin(const const_registered_buffer& b) noexcept {
  return &b.buffer();
}
inline const mutable_buffer* buffer_sequence_end(const mutable_registered_buffer& b) noexcept {
  return &b.buffer() + 1;
}
inline const const_buffer* buffer_sequence_end(const const_registered_buffer& b) noexcept {
  return &b.buffer() + 1;
}

}  // namespace WEFT_NAMESPACE
