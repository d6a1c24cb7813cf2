// SPDX-License-Identifier: BSL-1.0
#include <sys/socket.h>
#include <unistd.h>

#include <liburing.h>

#include <cerrno>
#include <new>
#include <utility>

#include <weft/base/error.hpp>

#include "io/io_driver.hpp"
#include "io/op/aborted_connection.hpp"
#include "io/op/retry.hpp"
#include "io/stream_source.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

struct connection : stream_item {
  explicit connection(int accepted) noexcept : descriptor(accepted) {}
  int descriptor;
};

/// Accepts one connection after the other: IORING_OP_ACCEPT, multishot (Linux 5.19).
class accept_source final : public stream_source {
 public:
  accept_source(io_handle& acceptor, std::size_t limit, bool report) noexcept
      : stream_source(acceptor, kind, limit), report_aborted(report) {
    ahead = driver().takes_ahead();
  }
  ~accept_source() {
    for (int held = take(); held >= 0; held = take()) {
      ::close(held);
      driver().descriptor_closed();
    }
  }

  /// The next connection's descriptor, or -1.
  int take() noexcept {
    auto* const next = static_cast<connection*>(pop());
    if (!next)
      return -1;
    const int taken = std::exchange(next->descriptor, -1);
    if (next != &own_)
      delete next;
    return taken;
  }

  const bool report_aborted;

 private:
  static void prepare(io_operation& base, io_uring_sqe& sqe) noexcept {
    io_uring_prep_multishot_accept(&sqe, base.fd, nullptr, nullptr, SOCK_CLOEXEC);
  }

  static bool feed(io_operation& base, io_answer answer) noexcept {
    static_cast<accept_source&>(base).take(answer.result);
    return (answer.flags & IORING_CQE_F_MORE) != 0;
  }

  void take(int result) noexcept {
    if (result >= 0) {
      if (own_.descriptor < 0) {
        own_.descriptor = result;
        push(&own_);
      } else if (auto* next = new (std::nothrow) connection(result)) {
        push(next);
      } else {
        ::close(result);
        failure = errno_code(ENOMEM);
      }
      return;
    }
    const int error = -result;
    if (error == ECANCELED || error == EINTR || would_block(error))
      return;
    if (!is_aborted_connection(error))
      failure = errno_code(error);
    else if (report_aborted)
      failure = errno_code(ECONNABORTED);
  }

  static void destroy(io_operation& base) noexcept { delete &static_cast<accept_source&>(base); }

  static constexpr io_kind kind{.perform = nullptr,
                                .prepare = &prepare,
                                .finish = nullptr,
                                .feed = &feed,
                                .destroy = &destroy};

  // The place of one connection, in the list if its descriptor is not negative: so the connection
  // for which a consumer waits needs no memory.
  connection own_{-1};
};

stream_consumer& consumer_of(io_operation& base) noexcept {
  return static_cast<accept_next_operation&>(base).consumer;
}

}  // namespace

const io_kind accept_next_operation::next_kind{.perform = &accept_next_operation::perform,
                                               .prepare = nullptr,
                                               .finish = nullptr,
                                               .makes_descriptor = true,
                                               .consumer = &consumer_of};

accept_next_operation::accept_next_operation(function f, scheduler& owner,
                                             stream_source& from) noexcept
    : accept_operation(f, owner, static_cast<accept_source&>(from).report_aborted, next_kind),
      consumer(from) {}

io_status accept_next_operation::perform(io_operation& base) noexcept {
  auto& op = static_cast<accept_next_operation&>(base);
  auto& source = static_cast<accept_source&>(*op.consumer.source.get());
  if (const int taken = source.take(); taken >= 0) {
    op.ec = error_code();
    op.accepted = taken;
    return io_status::done;
  }
  const io_status status = source.when_empty(op, op.consumer.direct);
  return status == io_status::drained ? accept_kind.perform(op) : status;
}

stream_source* make_accept_source(io_handle& acceptor, std::size_t limit, bool report_aborted) {
  return new accept_source(acceptor, limit, report_aborted);
}

}  // namespace WEFT_NAMESPACE::detail
