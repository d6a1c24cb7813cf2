// SPDX-License-Identifier: BSL-1.0
#include <weft/io/io_handle.hpp>

#include <unistd.h>

#include <cerrno>
#include <new>

#include <weft/base/error.hpp>

#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE::detail {

io_handle::io_handle(execution_context& context) : driver_(&use_io_driver(context)) {}

io_driver& io_handle::driver() const noexcept {
  return static_cast<io_driver&>(*driver_);
}

const error_code& empty_transfer(bool is_open) noexcept {
  static const error_code done;
  static const error_code closed(error::bad_descriptor);
  return is_open ? done : closed;
}

io_handle& io_handle::operator=(io_handle&& other) noexcept {
  if (this != &other) {
    close();
    if (object_)
      driver().recycle(object_);
    driver_ = other.driver_;
    object_ = std::exchange(other.object_, nullptr);
  }
  return *this;
}

io_handle::~io_handle() {
  close();
  if (object_)
    driver().recycle(object_);
}

int io_handle::native_handle() const noexcept {
  return object_ ? object_->fd.load(std::memory_order_relaxed) : -1;
}

void io_handle::reserve() {
  if (!object_ && !(object_ = driver().make_object()))
    throw std::bad_alloc();
}

error_code io_handle::assign(int fd, io_readiness readiness) noexcept {
  if (!object_ && !(object_ = driver().make_object()))
    return errno_code(ENOMEM);
  return driver().open(*object_, fd, readiness == io_readiness::pollable);
}

void io_handle::attach(io_operation* op) noexcept {
  driver().attach(object_ ? *object_ : driver().never_open(), op);
}

void io_handle::start(io_operation* op) noexcept {
  if (!io_driver::is_attached(op))
    attach(op);
  driver().start(op);
}

bool io_handle::start_or_finish(io_operation* op) noexcept {
  if (!io_driver::is_attached(op))
    attach(op);
  return driver().start_or_finish(op);
}

bool io_handle::cancel() noexcept {
  if (!is_open())
    return false;
  driver().cancel(*object_);
  return true;
}

error_code io_handle::close() noexcept {
  if (!object_)
    return {};
  const int fd = driver().release(*object_);
  // After close(2) the descriptor is gone even if EINTR or EIO is reported (Linux); what is
  // reported is an error of the data, not of the descriptor.
  if (fd < 0)
    return {};
  const int error = ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  driver().descriptor_closed();
  return error == 0 ? error_code() : errno_code(error);
}

int io_handle::release(error_code& ec) noexcept {
  const int fd = object_ ? driver().release(*object_) : -1;
  ec = fd < 0 ? errno_code(EBADF) : error_code();
  return fd;
}

error_code io_handle::take(io_handle& from) noexcept {
  if (is_open())
    return error::already_open;
  if (!object_ && !(object_ = driver().make_object()))
    return errno_code(ENOMEM);
  const int fd = from.object_ ? from.driver().release(*from.object_) : -1;
  if (fd < 0)
    return errno_code(EBADF);
  const io_object& left = *from.object_;  // it has kept its notes
  if (const error_code ec = driver().open(*object_, fd, left.pollable)) {
    ::close(fd);
    return ec;
  }
  object_->flags.store(left.flags.load(std::memory_order_relaxed), std::memory_order_relaxed);
  object_->zero_copy_sends = left.zero_copy_sends;
  return {};
}

unsigned io_handle::flags() const noexcept {
  return object_ ? object_->flags.load(std::memory_order_relaxed) : 0;
}

void io_handle::set_flag(unsigned flag, bool on) noexcept {
  if (!object_)
    return;
  if (on)
    object_->flags.fetch_or(flag, std::memory_order_relaxed);
  else
    object_->flags.fetch_and(~flag, std::memory_order_relaxed);
}

void cancel_io_operation(io_operation* op, bool unless_begun) noexcept {
  io_driver::cancel_operation(op, unless_begun);
}

void attach_driver_operation(io_driver& driver, io_operation* op) noexcept {
  driver.attach(driver.anonymous(), op);
}

void start_driver_operation(io_driver& driver, io_operation* op) noexcept {
  driver.start(op);
}

}  // namespace WEFT_NAMESPACE::detail
