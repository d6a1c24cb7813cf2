// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_file.hpp>

namespace WEFT_NAMESPACE {

/// A file that is read and written at a current position, which each transfer moves on. The
/// position is the descriptor's own: lseek(2).
///
/// All asynchronous reads and writes of one file, and what weft::fs does to it, are performed one
/// at a time, in the order they were started. A synchronous call beside a pending operation, or a
/// seek, has no place in that order.
///
///     stream_file log(context, "log", stream_file::write_only | stream_file::create |
///                                         stream_file::append);
///     async_write(log, buffer(line), [](error_code ec, std::size_t n) { ... });
template <class Executor = any_io_executor>
class basic_stream_file : public basic_file<Executor>,
                          public detail::stream_reads<basic_stream_file<Executor>, Executor>,
                          public detail::stream_writes<basic_stream_file<Executor>, Executor> {
  using base = basic_file<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_stream_file<Executor1>;
  };

  /// A closed file.
  explicit basic_stream_file(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_stream_file(ExecutionContext& context) : base(context.get_executor()) {}

  /// Opens a file. Throws as open.
  basic_stream_file(const executor_type& ex, const char* path, file_base::flags open_flags)
      : base(ex, path, open_flags) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_stream_file(ExecutionContext& context, const char* path, file_base::flags open_flags)
      : base(context.get_executor(), path, open_flags) {}
  basic_stream_file(const executor_type& ex, const std::string& path, file_base::flags open_flags)
      : base(ex, path.c_str(), open_flags) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_stream_file(ExecutionContext& context, const std::string& path, file_base::flags open_flags)
      : base(context.get_executor(), path.c_str(), open_flags) {}

  /// Takes over an open descriptor. Throws as assign.
  basic_stream_file(const executor_type& ex, const native_handle_type& native) : base(ex, native) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_stream_file(ExecutionContext& context, const native_handle_type& native)
      : base(context.get_executor(), native) {}

  basic_stream_file(basic_stream_file&&) noexcept = default;
  basic_stream_file& operator=(basic_stream_file&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_stream_file(basic_stream_file<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_stream_file& operator=(basic_stream_file<Executor1>&& other) {
    return *this = basic_stream_file(std::move(other));
  }

  /// Moves the position to `offset` bytes from `whence`, and returns it, from the beginning of the
  /// file. Fails with error::invalid_argument if it would be negative.
  std::uint64_t seek(std::int64_t offset, file_base::seek_basis whence) {
    error_code ec;
    const std::uint64_t position = seek(offset, whence, ec);
    detail::throw_if(ec, "seek");
    return position;
  }
  std::uint64_t seek(std::int64_t offset, file_base::seek_basis whence, error_code& ec) {
    return detail::seek_file(this->fd(), offset, whence, ec);
  }
};

}  // namespace WEFT_NAMESPACE
