// SPDX-License-Identifier: BSL-1.0
#include <weft/io/descriptor_handle.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include <weft/base/error.hpp>
#include <weft/io/op/wait.hpp>

#include "io/op/quiet_write.hpp"
#include "io/op/retry.hpp"
#include "io/op/vectors.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

error_code set_non_blocking(int fd, bool mode) noexcept {
  const int status = ::fcntl(fd, F_GETFL);
  if (status < 0)
    return errno_code(errno);
  const int wanted = mode ? status | O_NONBLOCK : status & ~O_NONBLOCK;
  return wanted == status || ::fcntl(fd, F_SETFL, wanted) == 0 ? error_code() : errno_code(errno);
}

/// The result of a read or write that returned `n`.
std::size_t transferred(ssize_t n, error_code& ec) noexcept {
  if (n < 0) {
    ec = errno_code(errno);
    return 0;
  }
  ec.clear();
  return static_cast<std::size_t>(n);
}

std::size_t received(ssize_t n, const io_vector* vectors, std::size_t count,
                     error_code& ec) noexcept {
  const std::size_t bytes = transferred(n, ec);
  if (n == 0 && wants_bytes(vectors, count))
    ec = error::eof;
  return bytes;
}

}  // namespace

descriptor_handle& descriptor_handle::operator=(descriptor_handle&& other) noexcept {
  if (this != &other) {
    close();
    io_handle::operator=(std::move(other));
  }
  return *this;
}

error_code descriptor_handle::assign(int fd) noexcept {
  if (is_open())
    return error::already_open;
  struct stat what{};
  const int status = ::fcntl(fd, F_GETFL);
  if (status < 0 || ::fstat(fd, &what) != 0)
    return errno_code(errno);
  const bool ready = S_ISREG(what.st_mode) || S_ISDIR(what.st_mode) || S_ISBLK(what.st_mode);
  if (const error_code ec =
          io_handle::assign(fd, ready ? io_readiness::always_blocking : io_readiness::pollable))
    return ec;
  set_flag(not_readable, (status & O_ACCMODE) == O_WRONLY);
  set_flag(not_writable, (status & O_ACCMODE) == O_RDONLY);
  if (ready) {
    set_flag(always_ready, true);
    // There the mode means nothing, but io_uring would refuse what is not in the page cache.
    if ((status & O_NONBLOCK) != 0)
      ::fcntl(fd, F_SETFL, status & ~O_NONBLOCK);
  } else {
    set_flag(native_by_user, (status & O_NONBLOCK) != 0);
  }
  return {};
}

error_code descriptor_handle::open(const char* path, int flags, unsigned permissions) noexcept {
  if (is_open())
    return error::already_open;
  const int fd = retry_interrupted([&] { return ::open(path, flags | O_CLOEXEC, permissions); });
  if (fd < 0)
    return errno_code(errno);
  const error_code ec = assign(fd);
  if (ec)
    ::close(fd);
  return ec;
}

error_code descriptor_handle::close() noexcept {
  if (!restores_mode(flags()))
    return io_handle::close();
  error_code ec;
  const int fd = release(ec);
  return fd < 0 || ::close(fd) == 0 ? error_code() : errno_code(errno);
}

int descriptor_handle::release(error_code& ec) noexcept {
  const unsigned notes = flags();
  const int fd = io_handle::release(ec);
  if (fd >= 0 && restores_mode(notes))
    set_non_blocking(fd, false);
  return fd;
}

error_code descriptor_handle::cancel() noexcept {
  return io_handle::cancel() ? error_code() : make_error_code(error::bad_descriptor);
}

error_code descriptor_handle::non_blocking(bool mode) noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (mode && this->mode() != transfer_mode::file && !native_non_blocking()) {
    if (const error_code ec = set_non_blocking(native_handle(), true))
      return ec;
    set_flag(native_for_user, true);
  } else if (!mode && (flags() & native_flags) == native_for_user) {
    if (const error_code ec = set_non_blocking(native_handle(), false))
      return ec;
    set_flag(native_for_user, false);
  }
  set_flag(user_non_blocking, mode);
  return {};
}

error_code descriptor_handle::native_non_blocking(bool mode) noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (!mode && non_blocking())
    return error::invalid_argument;
  if (const error_code ec = set_non_blocking(native_handle(), mode))
    return ec;
  set_flag(native_by_user, mode);
  set_flag(native_borrowed, false);
  return {};
}

error_code descriptor_handle::io_control(unsigned long command, void* data) noexcept {
  return ::ioctl(native_handle(), command, data) < 0 ? errno_code(errno) : error_code();
}

error_code descriptor_handle::make_asynchronous(io_queue what) noexcept {
  const unsigned refused = what == io_queue::read ? not_readable : not_writable;
  if (!is_open() || (flags() & refused) != 0)
    return error::bad_descriptor;
  return make_non_blocking();
}

error_code descriptor_handle::make_non_blocking() noexcept {
  if (mode() == transfer_mode::file || (flags() & (native_by_user | native_by_library)) != 0)
    return {};
  if (const error_code ec = set_non_blocking(native_handle(), true))
    return ec;
  set_flag(native_by_library, true);
  return {};
}

error_code descriptor_handle::check_offsets() const noexcept {
  if (mode() == transfer_mode::file)
    return {};
  return ::lseek(native_handle(), 0, SEEK_CUR) < 0 && errno == ESPIPE ? errno_code(ESPIPE)
                                                                      : error_code();
}

error_code descriptor_handle::wait(io_queue what) noexcept {
  const int fd = native_handle();
  if (fd < 0)
    return error::bad_descriptor;
  error_code ec;
  if (!poll_descriptor(fd, poll_events(what), non_blocking() ? 0 : -1, ec) && !ec)
    ec = error::would_block;
  return ec;
}

bool descriptor_handle::may_wait(io_queue what, error_code& ec) noexcept {
  if (non_blocking() || ec != error::would_block)
    return false;
  ec = wait(what);
  return !ec;
}

std::size_t descriptor_handle::read(io_vector* vectors, std::size_t count,
                                    error_code& ec) noexcept {
  ec.clear();
  if (is_open() && mode() == transfer_mode::ready && !wants_bytes(vectors, count))
    return 0;
  std::size_t n = 0;
  do {
    n = received(retry_interrupted([&] {
                   return ::readv(native_handle(), native(vectors), static_cast<int>(count));
                 }),
                 vectors, count, ec);
  } while (may_wait(io_queue::read, ec));
  return n;
}

std::size_t descriptor_handle::write(io_vector* vectors, std::size_t count,
                                     error_code& ec) noexcept {
  ec.clear();
  if (is_open() && mode() == transfer_mode::ready && !wants_bytes(vectors, count))
    return 0;
  std::size_t n = 0;
  do {
    n = transferred(retry_interrupted([&] {
                      return mode() == transfer_mode::ready
                                 ? quiet_write(native_handle(), vectors, count)
                                 : ::writev(native_handle(), native(vectors),
                                            static_cast<int>(count));
                    }),
                    ec);
  } while (may_wait(io_queue::write, ec));
  return n;
}

std::size_t descriptor_handle::read_at(std::uint64_t offset, io_vector* vectors, std::size_t count,
                                       error_code& ec) noexcept {
  return received(retry_interrupted([&] {
                    return ::preadv(native_handle(), native(vectors), static_cast<int>(count),
                                    static_cast<off_t>(offset));
                  }),
                  vectors, count, ec);
}

std::size_t descriptor_handle::write_at(std::uint64_t offset, io_vector* vectors, std::size_t count,
                                        error_code& ec) noexcept {
  return transferred(retry_interrupted([&] {
                       return ::pwritev(native_handle(), native(vectors), static_cast<int>(count),
                                        static_cast<off_t>(offset));
                     }),
                     ec);
}

}  // namespace WEFT_NAMESPACE::detail
