// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/stat.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <new>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr unsigned wanted = STATX_BASIC_STATS | STATX_BTIME;

struct statx* native(statx_memory& memory) noexcept {
  static_assert(sizeof(struct statx) <= statx_memory::size && alignof(struct statx) <= 8);
  return ::new (static_cast<void*>(memory.bytes)) struct statx;
}

int flags_of(fs::symlinks links) noexcept {
  return links == fs::symlinks::follow ? 0 : AT_SYMLINK_NOFOLLOW;
}

fs::file_type type_of(unsigned mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG: return fs::file_type::regular;
    case S_IFDIR: return fs::file_type::directory;
    case S_IFLNK: return fs::file_type::symlink;
    case S_IFBLK: return fs::file_type::block_device;
    case S_IFCHR: return fs::file_type::character_device;
    case S_IFIFO: return fs::file_type::fifo;
    case S_IFSOCK: return fs::file_type::socket;
    default: return fs::file_type::unknown;
  }
}

fs::file_time time_of(const statx_timestamp& t) noexcept {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  constexpr std::int64_t last = std::chrono::floor<seconds>(nanoseconds::max()).count();
  if (t.tv_sec >= last)
    return fs::file_time::max();
  if (t.tv_sec <= -last)
    return fs::file_time::min();
  return fs::file_time(seconds(t.tv_sec) + nanoseconds(t.tv_nsec));
}

fs::file_status status_of(const struct statx& s) noexcept {
  fs::file_status r;
  r.type = type_of(s.stx_mode);
  r.permissions = static_cast<std::uint16_t>(s.stx_mode & 07777);
  r.user = s.stx_uid;
  r.group = s.stx_gid;
  r.links = s.stx_nlink;
  r.size = s.stx_size;
  r.allocated = s.stx_blocks * 512;
  r.block_size = s.stx_blksize;
  r.inode = s.stx_ino;
  r.device_major = s.stx_dev_major;
  r.device_minor = s.stx_dev_minor;
  r.access_time = time_of(s.stx_atime);
  r.modification_time = time_of(s.stx_mtime);
  r.change_time = time_of(s.stx_ctime);
  if ((s.stx_mask & STATX_BTIME) != 0)
    r.creation_time = time_of(s.stx_btime);
  return r;
}

/// What the call names: a path, or a descriptor.
struct subject {
  int fd;
  const char* path;
  int flags;
};

subject subject_of(const stat_operation& op) noexcept {
  return !*op.path && op.fd >= 0 ? subject{op.fd, "", AT_EMPTY_PATH}
                                 : subject{AT_FDCWD, op.path, flags_of(op.links)};
}

io_status perform_stat(io_operation& base) noexcept {
  auto& op = static_cast<stat_operation&>(base);
  const subject s = subject_of(op);
  op.ec = outcome(
      retry_interrupted([&] { return ::statx(s.fd, s.path, s.flags, wanted, native(op.memory)); }));
  return io_status::done;
}

void prepare_stat(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<stat_operation&>(base);
  const subject s = subject_of(op);
  io_uring_prep_statx(&sqe, s.fd, s.path, s.flags, wanted, native(op.memory));
}

fs::file_status stat_now(const subject& s, error_code& ec) noexcept {
  struct statx memory;
  ec = outcome(retry_interrupted([&] { return ::statx(s.fd, s.path, s.flags, wanted, &memory); }));
  return ec ? fs::file_status() : status_of(memory);
}

}  // namespace

fs::file_status stat_operation::status() const noexcept {
  return status_of(*std::launder(reinterpret_cast<const struct statx*>(memory.bytes)));
}

fs::file_status stat_path(const char* path, fs::symlinks links, error_code& ec) noexcept {
  return stat_now({AT_FDCWD, path, flags_of(links)}, ec);
}

fs::file_status stat_descriptor(int fd, error_code& ec) noexcept {
  return stat_now({fd, "", AT_EMPTY_PATH}, ec);
}

const io_kind stat_operation::stat_kind{&perform_stat, &prepare_stat, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
