// SPDX-License-Identifier: BSL-1.0
#include <sys/socket.h>

#include <liburing.h>

#include <cerrno>
#include <new>

#include <weft/base/error.hpp>

#include "io/io_driver.hpp"
#include "io/op/retry.hpp"
#include "io/stream_source.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Receives into buffers that the kernel chooses: IORING_OP_RECV, multishot (Linux 6.0).
class receive_source final : public stream_source {
 public:
  receive_source(io_handle& socket, std::size_t limit, receive_mode receive_as) noexcept
      : stream_source(socket, kind, limit), mode(receive_as), buffers(driver().buffers()) {
    ahead = driver().takes_ahead() && driver().serve_buffers();
  }
  ~receive_source() {
    while (stream_item* item = pop())
      buffers.give_back(static_cast<stream_buffer*>(item));
  }

  const receive_mode mode;
  stream_buffer_pool& buffers;

 private:
  static bool offer(io_operation& base) noexcept {
    return static_cast<receive_source&>(base).buffers.offer();
  }

  static void prepare(io_operation& base, io_uring_sqe& sqe) noexcept {
    io_uring_prep_recv(&sqe, base.fd, nullptr, 0, 0);
    sqe.ioprio |= IORING_RECV_MULTISHOT;
    sqe.flags |= IOSQE_BUFFER_SELECT;
    sqe.buf_group = buffer_ring::group;
  }

  static bool feed(io_operation& base, io_answer answer) noexcept {
    const auto [result, flags] = answer;
    auto& self = static_cast<receive_source&>(base);
    if (flags & IORING_CQE_F_BUFFER) {
      stream_buffer* buffer = self.buffers.filled(flags >> IORING_CQE_BUFFER_SHIFT);
      if (result > 0) {
        buffer->size = static_cast<std::size_t>(result);
        self.push(buffer);
      } else {
        self.buffers.give_back(buffer);
      }
    }
    // The kernel is out of buffers; was told to stop; or may be asked again: the source rests.
    const bool rests =
        result == -ENOBUFS || result == -ECANCELED || result == -EINTR || would_block(-result);
    if (result == 0)
      self.failure = error::eof;
    else if (result < 0 && !rests)
      self.failure = errno_code(-result);
    return (flags & IORING_CQE_F_MORE) != 0;
  }

  static void destroy(io_operation& base) noexcept { delete &static_cast<receive_source&>(base); }

  static constexpr io_kind kind{.perform = nullptr,
                                .prepare = &prepare,
                                .finish = nullptr,
                                .feed = &feed,
                                .offer = &offer,
                                .destroy = &destroy};
};

/// recv(2), by the consumer itself.
io_status receive_now(receive_next_operation& op, receive_source& source) noexcept {
  stream_buffer* buffer = source.buffers.take();
  if (!buffer) {
    op.fail(ENOMEM);
    return io_status::done;
  }
  received_buffer received(buffer);
  const ssize_t n = retry_interrupted(
      [&] { return ::recv(op.fd, buffer->data(), stream_buffer::capacity, MSG_DONTWAIT); });
  if (n < 0) {
    if (would_block(errno))
      return io_status::again;
    op.fail(errno);
    return io_status::done;
  }
  if (n == 0) {
    op.ec = error::eof;
    return io_status::done;
  }
  buffer->size = static_cast<std::size_t>(n);
  op.ec = error_code();
  op.received = std::move(received);
  const bool cut = source.mode != receive_mode::stream;
  return op.received.size() < stream_buffer::capacity && !cut ? io_status::drained
                                                              : io_status::done;
}

io_status perform(io_operation& base) noexcept {
  auto& op = static_cast<receive_next_operation&>(base);
  auto& source = static_cast<receive_source&>(*op.consumer.source.get());
  if (stream_item* item = source.pop()) {
    op.ec = error_code();
    op.received = received_buffer(static_cast<stream_buffer*>(item));
    return io_status::done;
  }
  const io_status status = source.when_empty(op, op.consumer.direct);
  return status == io_status::drained ? receive_now(op, source) : status;
}

stream_consumer& consumer_of(io_operation& base) noexcept {
  return static_cast<receive_next_operation&>(base).consumer;
}

}  // namespace

const io_kind receive_next_operation::next_kind{
    .perform = &perform, .prepare = nullptr, .finish = nullptr, .consumer = &consumer_of};

stream_source* make_receive_source(io_handle& socket, std::size_t limit, receive_mode mode) {
  return new receive_source(socket, limit, mode);
}

}  // namespace WEFT_NAMESPACE::detail
