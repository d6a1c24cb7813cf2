// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>
#include <weft/io/op/message_header.hpp>
#include <weft/io/op/registered_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Sends one buffer: send(2), or IORING_OP_SEND (Linux 5.6). Never raises SIGPIPE.
class WEFT_API send_operation : public transfer_operation {
 public:
  send_operation(function f, scheduler& owner, const_buffer from, int send_flags) noexcept
      : send_operation(f, owner, from, send_flags, send_kind) {}

  const_buffer buffer;
  int flags;

 protected:
  send_operation(function f, scheduler& owner, const_buffer from, int send_flags,
                 const io_kind& kind) noexcept
      : transfer_operation(f, owner, kind, io_queue::write), buffer(from), flags(send_flags) {}

  static const io_kind send_kind;
};

/// Sends until all of one buffer is sent.
class WEFT_API send_all_operation : public send_operation {
 public:
  send_all_operation(function f, scheduler& owner, const_buffer from) noexcept
      : send_operation(f, owner, from, 0, send_all_kind) {}

 private:
  static const io_kind send_all_kind;
};

/// Sends a registered buffer: IORING_OP_WRITE_FIXED where the kernel knows it, there are no flags
/// and the kernel can be kept from raising SIGPIPE (Linux 6.18); otherwise as send_operation.
class WEFT_API send_registered_operation : public send_operation {
 public:
  send_registered_operation(function f, scheduler& owner, const const_registered_buffer& from,
                            int send_flags) noexcept
      : send_operation(f, owner, from.buffer(), send_flags,
                       kind_for(registered_transfer(from), send_flags)),
        registered(from) {}

  registered_transfer registered;

 private:
  static const io_kind& kind_for(const registered_transfer& buffer, int flags) noexcept;
  static const io_kind registered_kind;
};

/// Sends what a message header describes: sendmsg(2), or IORING_OP_SENDMSG (Linux 5.3). The derived
/// class fills the header. Never raises SIGPIPE.
class WEFT_API send_message_operation : public transfer_operation {
 public:
  message_header header;
  int flags;

 protected:
  /// `destination`: the address, if the header is to have one, in the system's representation.
  send_message_operation(function f, scheduler& owner, int send_flags,
                         const void* destination = nullptr) noexcept
      : transfer_operation(f, owner, kind_for(destination), io_queue::write), flags(send_flags) {}
  ~send_message_operation() = default;

 private:
  static const io_kind& kind_for(const void* destination) noexcept;
  static const io_kind send_message_kind;
  static const io_kind send_unix_message_kind;
};

/// Sends several buffers.
template <class Sequence, std::size_t Max>
class send_vectors_operation : public send_message_operation {
 public:
  send_vectors_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                         int send_flags, const void* destination = nullptr) noexcept
      : send_message_operation(f, owner, send_flags, destination), buffers_(buffers) {
    header.vectors = buffers_.vectors();
    header.count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<const_buffer, Sequence, Max> buffers_;
};

/// Sends a datagram to an address, of which it keeps a copy.
template <class Endpoint, class Sequence>
class send_to_operation : public send_vectors_operation<Sequence, max_io_vectors> {
 public:
  send_to_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                    const Endpoint& destination, int send_flags) noexcept
      : send_vectors_operation<Sequence, max_io_vectors>(f, owner, buffers, send_flags,
                                                         destination.data()),
        destination_(destination) {
    this->header.name = destination_.data();
    this->header.name_size = static_cast<std::uint32_t>(destination_.size());
  }

 private:
  Endpoint destination_;
};

/// Starts a send for `handler`, of at most `Max` buffers; whether it is send or sendmsg is known
/// from the sequence's type. For `outcome` see start_io_unless.
template <std::size_t Max, class Handler, class Executor, class Sequence>
void start_send(io_handle& io, Handler& handler, const Executor& executor, const Sequence& buffers,
                int flags, const error_code* outcome = nullptr) {
  if constexpr (is_registered_buffer<Sequence>)
    start_io_unless<send_registered_operation>(outcome, io, handler, executor, buffers, flags);
  else if constexpr (is_single_buffer<Sequence>)
    start_io_unless<send_operation>(outcome, io, handler, executor,
                                    buffer_sequence_adapter<const_buffer, Sequence>::first(buffers),
                                    flags);
  else
    start_io_unless<send_vectors_operation<Sequence, Max>>(outcome, io, handler, executor, buffers,
                                                           flags);
}

}  // namespace WEFT_NAMESPACE::detail
