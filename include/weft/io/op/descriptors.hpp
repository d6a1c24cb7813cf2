// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>

#include <weft/io/op/receive.hpp>
#include <weft/io/op/send.hpp>

namespace WEFT_NAMESPACE::detail {

/// SCM_MAX_FD: the most descriptors that one message carries (unix(7)).
inline constexpr std::size_t max_descriptors = 253;

/// Ancillary data with descriptors, as SCM_RIGHTS of unix(7).
class WEFT_API descriptor_message {
 public:
  descriptor_message() noexcept = default;
  descriptor_message(const descriptor_message&) = delete;
  descriptor_message& operator=(const descriptor_message&) = delete;

  /// Adds descriptors to a header that is to be sent; they are at most max_descriptors.
  void put(message_header& header, std::span<const int> descriptors) noexcept;

  /// Makes room in a header that is to be received with.
  void make_room(message_header& header) noexcept;

  /// Takes the received descriptors out of the header; closes those for which there is no room.
  /// Returns how many were taken.
  std::size_t take(message_header& header, std::span<int> room) noexcept;

 private:
  static constexpr std::size_t capacity = 1032;

  alignas(8) unsigned char bytes_[capacity] = {};
};

/// MSG_CMSG_CLOEXEC: received descriptors are close-on-exec.
inline constexpr int close_received_on_exec = 0x40000000;

template <class Sequence>
class send_descriptors_operation : public send_vectors_operation<Sequence, max_io_vectors> {
 public:
  send_descriptors_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                             std::span<const int> descriptors) noexcept
      : send_vectors_operation<Sequence, max_io_vectors>(f, owner, buffers, 0) {
    message_.put(this->header, descriptors);
  }

 private:
  descriptor_message message_;
};

/// Results: (error_code, bytes, descriptors). Descriptors that nobody took are closed.
template <class Sequence>
class receive_descriptors_operation : public receive_vectors_operation<Sequence, max_io_vectors> {
  using base = receive_vectors_operation<Sequence, max_io_vectors>;

 public:
  receive_descriptors_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                                std::span<int> room, receive_mode receive_as) noexcept
      : base(f, owner, buffers, close_received_on_exec, receive_as), room_(room) {
    message_.make_room(this->header);
    this->control_capacity = this->header.control_size;
  }

  operation_results<error_code, std::size_t, std::size_t> take_results() noexcept {
    const std::size_t count = message_.take(this->header, room_);
    return {this->ec, this->bytes, count};
  }

 protected:
  ~receive_descriptors_operation() { message_.take(this->header, {}); }

 private:
  std::span<int> room_;
  descriptor_message message_;
};

}  // namespace WEFT_NAMESPACE::detail
