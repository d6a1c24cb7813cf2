// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <weft/io/file_base.hpp>
#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

// Synchronous calls on the descriptor of a file; EINTR is retried.

WEFT_API error_code open_file(descriptor_handle& io, const char* path, file_base::flags flags,
                              unsigned permissions) noexcept;
WEFT_API std::uint64_t file_size(int fd, error_code& ec) noexcept;
WEFT_API error_code resize_file(int fd, std::uint64_t size) noexcept;
WEFT_API error_code sync_file(int fd, bool data_only) noexcept;
WEFT_API std::uint64_t seek_file(int fd, std::int64_t offset, int whence, error_code& ec) noexcept;

}  // namespace detail

/// What basic_stream_file and basic_random_access_file have in common. Each call has a form that
/// throws system_error and one that sets `ec`; on a closed file they fail with
/// error::bad_descriptor.
///
/// Asynchronous reads and writes are truly asynchronous on io_uring. On epoll, to which files are
/// always ready, a few helper threads perform them: what one has begun can no longer be cancelled,
/// its buffer is in use until it completes, and closing or destroying the file waits for it.
///
/// Thread safety: as said of handle_object.
template <class Executor = any_io_executor>
class basic_file : public detail::handle_object<Executor>, public file_base {
  using base = detail::handle_object<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_file<Executor1>;
  };

  /// Opens a file, close-on-exec: open(2). `open_flags` has exactly one of read_only, write_only
  /// and read_write; a file that is created gets the permissions 0666 less the umask. Blocks; see
  /// fs::async_open. Fails with error::already_open, error::invalid_argument, and with what open
  /// reports: ENOENT, EACCES, EISDIR, error::no_descriptors ...
  void open(const char* path, file_base::flags open_flags) {
    error_code ec;
    open(path, open_flags, ec);
    detail::throw_if(ec, "open");
  }
  void open(const char* path, file_base::flags open_flags, error_code& ec) {
    ec = detail::open_file(handle(), path, open_flags, detail::default_permissions);
  }
  void open(const std::string& path, file_base::flags open_flags) {
    open(path.c_str(), open_flags);
  }
  void open(const std::string& path, file_base::flags open_flags, error_code& ec) {
    open(path.c_str(), open_flags, ec);
  }

  /// The size of the file in bytes.
  std::uint64_t size() const {
    error_code ec;
    const std::uint64_t n = size(ec);
    detail::throw_if(ec, "size");
    return n;
  }
  std::uint64_t size(error_code& ec) const { return detail::file_size(fd(), ec); }

  /// Cuts the file to `n` bytes, or extends it by zero bytes: ftruncate(2). Blocks. Fails with
  /// error::invalid_argument if the file is not open for writing, or `n` does not fit 63 bits.
  void resize(std::uint64_t n) {
    error_code ec;
    resize(n, ec);
    detail::throw_if(ec, "resize");
  }
  void resize(std::uint64_t n, error_code& ec) { ec = detail::resize_file(fd(), n); }

  /// Blocks until data and metadata are on the disk: fsync(2). See fs::async_fsync.
  void sync_all() {
    error_code ec;
    sync_all(ec);
    detail::throw_if(ec, "sync_all");
  }
  void sync_all(error_code& ec) { ec = detail::sync_file(fd(), false); }

  /// Blocks until the data, and what is needed to read it, is on the disk: fdatasync(2).
  void sync_data() {
    error_code ec;
    sync_data(ec);
    detail::throw_if(ec, "sync_data");
  }
  void sync_data(error_code& ec) { ec = detail::sync_file(fd(), true); }

 protected:
  explicit basic_file(const executor_type& ex) : base(ex) {}
  basic_file(const executor_type& ex, const char* path, file_base::flags open_flags) : base(ex) {
    open(path, open_flags);
  }
  basic_file(const executor_type& ex, const native_handle_type& native) : base(ex) {
    this->assign(native);
  }
  basic_file(basic_file&&) noexcept = default;
  basic_file& operator=(basic_file&&) = default;
  template <class Executor1>
  explicit basic_file(basic_file<Executor1>&& other) : base(std::move(other)) {}
  ~basic_file() = default;

  detail::descriptor_handle& handle() noexcept { return detail::handle_access::get(*this); }
  int fd() const noexcept { return detail::handle_access::get(*this).native_handle(); }
};

}  // namespace WEFT_NAMESPACE
