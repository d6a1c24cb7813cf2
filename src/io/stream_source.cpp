// SPDX-License-Identifier: BSL-1.0
#include "io/stream_source.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Ties the source to the descriptor; returns which opening of the object that is.
unsigned bind(io_handle& io, stream_source& source) noexcept {
  io.attach(&source);
  return source.object().openings.load(std::memory_order_relaxed);
}

}  // namespace

stream_source::stream_source(io_handle& io, const io_kind& kind, std::size_t limit) noexcept
    : io_operation(&never, io.owner(), kind, io_queue::concurrent),
      driver_(io.driver()),
      limit_(std::max<std::size_t>(limit, 1)),
      openings_(bind(io, *this)) {}

bool stream_source::is_current() const noexcept {
  return object_->openings.load(std::memory_order_relaxed) == openings_;
}

io_status stream_source::when_empty(io_operation& consumer, bool direct) noexcept {
  if (failure) {
    consumer.ec = std::exchange(failure, error_code());
    return io_status::done;
  }
  if (is_taking())
    return io_status::again;
  if (stopped) {
    consumer.fail(ECANCELED);
    return io_status::done;
  }
  return direct || !ahead ? io_status::drained : io_status::again;
}

void retain(stream_source& source) noexcept {
  source.references_.add();
}

void release(stream_source& source) noexcept {
  if (source.references_.drop())
    source.kind().destroy(source);
}

stream_handle::stream_handle(io_handle& socket, std::size_t limit, receive_mode mode)
    : source_(make_receive_source(socket, limit, mode), stream_reference::adopt()) {}

stream_handle::stream_handle(io_handle& acceptor, std::size_t limit, bool report_aborted)
    : source_(make_accept_source(acceptor, limit, report_aborted), stream_reference::adopt()) {}

stream_handle::~stream_handle() {
  if (source_.get()) {
    cancel();
    stop();
  }
}

scheduler& stream_handle::owner() const noexcept {
  return source().owner();
}

void stream_handle::attach(io_operation* op) noexcept {
  io_driver& driver = source().driver();
  io_driver::attach(source().is_current() ? source().object() : driver.never_open(), op);
}

void stream_handle::start(io_operation* op) noexcept {
  source().driver().start(op);
}

bool stream_handle::start_or_finish(io_operation* op) noexcept {
  return source().driver().start_or_finish(op);
}

void stream_handle::cancel() noexcept {
  source().driver().cancel(source());
}

void stream_handle::stop() noexcept {
  source().driver().stop(source());
}

}  // namespace WEFT_NAMESPACE::detail
