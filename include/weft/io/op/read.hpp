// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>
#include <weft/io/op/message_header.hpp>
#include <weft/io/op/registered_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

/// How bytes are moved from or to a descriptor that is not a socket.
enum class transfer_mode : std::uint8_t {
  ready,   ///< Pipes, terminals, devices: when the descriptor is ready, without blocking.
  file,    ///< A file, at its current position: by io_uring or a helper thread, all in one order.
  file_at  ///< A file, at an offset: the same, in no order.
};

/// Reads and writes of a file share its position, and so a queue.
constexpr io_queue transfer_queue(transfer_mode mode, io_queue ready) noexcept {
  return mode == transfer_mode::ready  ? ready
         : mode == transfer_mode::file ? io_queue::write
                                       : io_queue::concurrent;
}

/// Reads: readv(2), preadv(2), or IORING_OP_READ and IORING_OP_READV (Linux 5.6; at the current
/// position too). The derived class keeps the list of buffers; to have none, or only empty ones, is
/// success. 0 bytes otherwise is error::eof.
class WEFT_API read_operation : public transfer_operation {
 public:
  io_vector* vectors = nullptr;
  std::size_t count = 0;
  std::uint64_t offset;  ///< In bytes, of file_at.
  transfer_mode mode;

 protected:
  read_operation(function f, scheduler& owner, transfer_mode how, std::uint64_t at) noexcept
      : read_operation(f, owner, how, at, plain_kind(how)) {}
  read_operation(function f, scheduler& owner, transfer_mode how, std::uint64_t at,
                 const io_kind& kind) noexcept
      : transfer_operation(f, owner, kind, transfer_queue(how, io_queue::read)),
        offset(at),
        mode(how) {}
  ~read_operation() = default;

  static const io_kind& plain_kind(transfer_mode how) noexcept {
    return how == transfer_mode::ready ? ready_kind : file_kind;
  }

 private:
  static const io_kind ready_kind;
  static const io_kind file_kind;
};

/// Reads into a registered buffer: IORING_OP_READ_FIXED where the kernel knows it.
class WEFT_API read_registered_operation : public read_operation {
 public:
  registered_transfer registered;

 protected:
  template <class RegisteredBuffer>
  read_registered_operation(function f, scheduler& owner, const RegisteredBuffer& b,
                            transfer_mode how, std::uint64_t at) noexcept
      : read_operation(f, owner, how, at, kind_for(registered_transfer(b), how)), registered(b) {}
  ~read_registered_operation() = default;

 private:
  static const io_kind& kind_for(const registered_transfer& buffer, transfer_mode how) noexcept;
  static const io_kind registered_ready_kind;
  static const io_kind registered_file_kind;
};

/// Reads into the buffers of a sequence, at most max_stream_vectors of them.
template <class Sequence>
class read_buffers_operation : public read_operation {
 public:
  read_buffers_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                         transfer_mode how, std::uint64_t at = 0) noexcept
      : read_operation(f, owner, how, at), buffers_(buffers) {
    vectors = buffers_.vectors();
    count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<mutable_buffer, Sequence, max_stream_vectors> buffers_;
};

template <class Sequence>
  requires is_registered_buffer<Sequence>
class read_buffers_operation<Sequence> : public read_registered_operation {
 public:
  read_buffers_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                         transfer_mode how, std::uint64_t at = 0) noexcept
      : read_registered_operation(f, owner, buffers, how, at), buffers_(buffers) {
    vectors = buffers_.vectors();
    count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<mutable_buffer, Sequence> buffers_;
};

}  // namespace WEFT_NAMESPACE::detail
