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
      : transfer_operation(f, owner, how == transfer_mode::ready ? ready_kind : file_kind,
                           transfer_queue(how, io_queue::write)),
        offset(at),
        mode(how) {}
  ~write_operation() = default;

 private:
  static const io_kind ready_kind;
  static const io_kind file_kind;
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

}  // namespace WEFT_NAMESPACE::detail
