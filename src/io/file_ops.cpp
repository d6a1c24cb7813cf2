// SPDX-License-Identifier: BSL-1.0
#include <weft/io/basic_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include <weft/base/error.hpp>

#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

static_assert(file_base::read_only == O_RDONLY && file_base::write_only == O_WRONLY &&
              file_base::read_write == O_RDWR);
static_assert(file_base::create == O_CREAT && file_base::exclusive == O_EXCL &&
              file_base::truncate == O_TRUNC && file_base::append == O_APPEND);
static_assert(file_base::sync_all_on_write == O_SYNC);
static_assert(file_base::seek_set == SEEK_SET && file_base::seek_cur == SEEK_CUR &&
              file_base::seek_end == SEEK_END);
static_assert(sizeof(off_t) == sizeof(std::int64_t));

error_code open_file(descriptor_handle& io, const char* path, file_base::flags flags,
                     unsigned permissions) noexcept {
  if ((flags & O_ACCMODE) == O_ACCMODE)
    return error::invalid_argument;
  return io.open(path, static_cast<int>(flags), permissions);
}

std::uint64_t file_size(int fd, error_code& ec) noexcept {
  struct stat what{};
  if (::fstat(fd, &what) != 0) {
    ec = errno_code(errno);
    return 0;
  }
  ec.clear();
  return static_cast<std::uint64_t>(what.st_size);
}

error_code resize_file(int fd, std::uint64_t size) noexcept {
  if (size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
    return error::invalid_argument;
  const int result = retry_interrupted([&] { return ::ftruncate(fd, static_cast<off_t>(size)); });
  return result < 0 ? errno_code(errno) : error_code();
}

error_code sync_file(int fd, bool data_only) noexcept {
  const int result = retry_interrupted([&] { return data_only ? ::fdatasync(fd) : ::fsync(fd); });
  return result < 0 ? errno_code(errno) : error_code();
}

std::uint64_t seek_file(int fd, std::int64_t offset, int whence, error_code& ec) noexcept {
  const off_t position = ::lseek(fd, offset, whence);
  if (position < 0) {
    ec = errno_code(errno);
    return 0;
  }
  ec.clear();
  return static_cast<std::uint64_t>(position);
}

}  // namespace WEFT_NAMESPACE::detail
