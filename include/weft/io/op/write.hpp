// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/read.hpp>

namespace WEFT_NAMESPACE::detail {

/// Writes: writev(2), pwritev(2), or IORING_OP_WRITE and IORING_OP_WRITEV (Linux 5.6; at the
/// current position too). Never raises SIGPIPE. The derived class keeps the list of buffers.
class WEFT_API write_operation : public transfer_operation {
 public:
  io_vector* vectors = nullptr;
  std::size_t count = 0;
  std::uint64_t offset;  ///< In bytes, of file_at.
  transfer_mode mode;

 protected:
  write_operation(function f, scheduler& owner, transfer_mode how, std::uint64_t at) noexcept
      : write_operation(f, owner, how, at, plain_kind(how)) {}
  write_operation(function f, scheduler& owner, transfer_mode how, std::uint64_t at,
                  const io_kind& kind) noexcept
      : transfer_operation(f, owner, kind, transfer_queue(how, io_queue::write)),
        offset(at),
        mode(how) {}
  ~write_operation() = default;

  static const io_kind& plain_kind(transfer_mode how) noexcept {
    return how == transfer_mode::ready ? ready_kind : file_kind;
  }

 private:
  static const io_kind ready_kind;
  static const io_kind file_kind;
};

/// Writes a registered buffer: IORING_OP_WRITE_FIXED where the kernel knows it and, but for files,
/// can be kept from raising SIGPIPE (Linux 6.18).
class WEFT_API write_registered_operation : public write_operation {
 public:
  registered_transfer registered;

 protected:
  template <class RegisteredBuffer>
  write_registered_operation(function f, scheduler& owner, const RegisteredBuffer& b,
                             transfer_mode how, std::uint64_t at) noexcept
      : write_operation(f, owner, how, at, kind_for(registered_transfer(b), how)), registered(b) {}
  ~write_registered_operation() = default;

 private:
  static const io_kind& kind_for(const registered_transfer& buffer, transfer_mode how) noexcept;
  static const io_kind registered_ready_kind;
  static const io_kind registered_file_kind;
};

/// Writes the buffers of a sequence, at most max_stream_vectors of them.
template <class Sequence>
class write_buffers_operation : public write_operation {
 public:
  write_buffers_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                          transfer_mode how, std::uint64_t at = 0) noexcept
      : write_operation(f, owner, how, at), buffers_(buffers) {
    vectors = buffers_.vectors();
    count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<const_buffer, Sequence, max_stream_vectors> buffers_;
};

template <class Sequence>
  requires is_registered_buffer<Sequence>
class write_buffers_operation<Sequence> : public write_registered_operation {
 public:
  write_buffers_operation(operation::function f, scheduler& owner, const Sequence& buffers,
                          transfer_mode how, std::uint64_t at = 0) noexcept
      : write_registered_operation(f, owner, buffers, how, at), buffers_(buffers) {
    vectors = buffers_.vectors();
    count = buffers_.count();
  }

 private:
  buffer_sequence_adapter<const_buffer, Sequence> buffers_;
};

}  // namespace WEFT_NAMESPACE::detail
