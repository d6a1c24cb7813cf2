// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/op/message_header.hpp>
#include <weft/io/op/registered_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

/// What a received length means.
enum class receive_mode : std::uint8_t {
  datagram,     ///< 0 is an empty message.
  record,       ///< 0 is the end of the connection.
  stream,       ///< 0 is the end of the stream; a short read has emptied it.
  unix_stream,  ///< The same, but a short read may also have stopped at passed descriptors.
};

/// Out-of-band data and the error queue have a readiness of their own, for which the operation
/// waits on every backend. Asked for before it is there, recv(2) fails with EINVAL or EAGAIN,
/// however much ordinary data there is.
constexpr bool is_urgent(int flags) noexcept {
  return (flags & (os::msg_oob | os::msg_errqueue)) != 0;
}
constexpr io_queue receive_queue(int flags) noexcept {
  return is_urgent(flags) ? io_queue::except : io_queue::read;
}

/// Receives into one buffer: recv(2), or IORING_OP_RECV (Linux 5.6).
class WEFT_API receive_operation : public transfer_operation {
 public:
  receive_operation(function f, scheduler& owner, mutable_buffer to, int receive_flags,
                    receive_mode receive_as) noexcept
      : receive_operation(f, owner, to, receive_flags, receive_as,
                          is_urgent(receive_flags) ? urgent_kind : receive_kind) {}

  mutable_buffer buffer;
  int flags;
  receive_mode mode;

 protected:
  receive_operation(function f, scheduler& owner, mutable_buffer to, int receive_flags,
                    receive_mode receive_as, const io_kind& kind) noexcept
      : transfer_operation(f, owner, kind, receive_queue(receive_flags)),
        buffer(to),
        flags(receive_flags),
        mode(receive_as) {}

  static const io_kind receive_kind;
  static const io_kind urgent_kind;
};

/// Receives until one buffer is full.
class WEFT_API receive_all_operation : public receive_operation {
 public:
  receive_all_operation(function f, scheduler& owner, mutable_buffer to) noexcept
      : receive_operation(f, owner, to, 0, receive_mode::stream, receive_all_kind) {}

 private:
  static const io_kind receive_all_kind;
};

/// Receives into a registered buffer: IORING_OP_READ_FIXED where the kernel knows it and there are
/// no flags, otherwise as receive_operation.
class WEFT_API receive_registered_operation : public receive_operation {
 public:
  receive_registered_operation(function f, scheduler& owner, const mutable_registered_buffer& to,
                               int receive_flags, receive_mode receive_as) noexcept
      : receive_operation(f, owner, to.buffer(), receive_flags, receive_as,
                          kind_for(registered_transfer(to), receive_flags)),
        registered(to) {}

  registered_transfer registered;

 private:
  static const io_kind& kind_for(const registered_transfer& buffer, int flags) noexcept {
    if (buffer.is_effective() && flags == 0)
      return registered_kind;
    return is_urgent(flags) ? urgent_kind : receive_kind;
  }

  static const io_kind registered_kind;
};

/// Receives what a message header describes: recvmsg(2), or IORING_OP_RECVMSG (Linux 5.3). The
/// derived class fills the header; the operation's `header` is not moved after that.
class WEFT_API receive_message_operation : public transfer_operation {
 public:
  message_header header;
  std::uint32_t name_capacity = 0;
  std::size_t control_capacity = 0;
  int flags;
  receive_mode mode;

 protected:
  receive_message_operation(function f, scheduler& owner, int receive_flags,
                            receive_mode receive_as) noexcept
      : transfer_operation(f, owner,
                           is_urgent(receive_flags) ? urgent_message_kind : receive_message_kind,
                           receive_queue(receive_flags)),
        flags(receive_flags),
        mode(receive_as) {}
  ~receive_message_operation() = default;

 private:
  static const io_kind receive_message_kind;
  static const io_kind urgent_message_kind;
};

/// Receives into several buffers.
template <class Sequence, std::size_t Max>
class receive_vectors_operation : public receive_message_operation {
 public:
  receive_vectors_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                            int receive_flags, receive_mode receive_as) noexcept
      : receive_message_operation(f, owner, receive_flags, receive_as), buffers_(buffers) {
    header.vectors = buffers_.vectors();
    header.count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<mutable_buffer, Sequence, Max> buffers_;
};

/// Receives a datagram and its sender's address. The endpoint is written when the operation
/// completes.
template <class Endpoint, class Sequence>
class receive_from_operation : public receive_vectors_operation<Sequence, max_io_vectors> {
  using base = receive_vectors_operation<Sequence, max_io_vectors>;

 public:
  receive_from_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                         Endpoint& sender, int receive_flags) noexcept
      : base(f, owner, buffers, receive_flags, receive_mode::datagram), sender_(&sender) {
    this->name_capacity = static_cast<std::uint32_t>(address_.capacity());
    this->header.name = address_.data();
    this->header.name_size = this->name_capacity;
  }

  operation_results<error_code, std::size_t> take_results() noexcept {
    if (!this->ec) {
      address_.resize(this->header.name_size < this->name_capacity ? this->header.name_size
                                                                   : this->name_capacity);
      *sender_ = address_;
    }
    return base::take_results();
  }

 private:
  Endpoint* sender_;
  Endpoint address_;
};

/// Receives a record and the flags the system gave it, which are written when the operation
/// completes.
template <class Sequence>
class receive_with_flags_operation : public receive_vectors_operation<Sequence, max_io_vectors> {
  using base = receive_vectors_operation<Sequence, max_io_vectors>;

 public:
  receive_with_flags_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                               int receive_flags, int& out_flags) noexcept
      : base(f, owner, buffers, receive_flags, receive_mode::datagram), out_flags_(&out_flags) {}

  operation_results<error_code, std::size_t> take_results() noexcept {
    *out_flags_ = this->ec ? 0 : this->header.flags;
    return base::take_results();
  }

 private:
  int* out_flags_;
};

/// Starts a receive for `handler`, of at most `Max` buffers; whether it is recv or recvmsg is known
/// from the sequence's type. For `outcome` see start_io_unless.
template <std::size_t Max, class Handler, class Executor, class Sequence>
void start_receive(io_handle& io, Handler& handler, const Executor& executor,
                   const Sequence& buffers, int flags, receive_mode mode,
                   const error_code* outcome = nullptr) {
  if constexpr (is_registered_buffer<Sequence>)
    start_io_unless<receive_registered_operation>(outcome, io, handler, executor, buffers, flags,
                                                  mode);
  else if constexpr (is_single_buffer<Sequence>)
    start_io_unless<receive_operation>(
        outcome, io, handler, executor,
        buffer_sequence_adapter<mutable_buffer, Sequence>::first(buffers), flags, mode);
  else
    start_io_unless<receive_vectors_operation<Sequence, Max>>(outcome, io, handler, executor,
                                                              buffers, flags, mode);
}

}  // namespace WEFT_NAMESPACE::detail
