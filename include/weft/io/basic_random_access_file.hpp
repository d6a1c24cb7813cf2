// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_file.hpp>

namespace WEFT_NAMESPACE {

/// A file that is read and written at offsets, of which each call names one: pread(2), pwrite(2).
///
/// Asynchronous operations are all under way at once, in no order: wait for a write before reading
/// what it wrote, or before writing over it. On a file opened with `append`, Linux appends whatever
/// the offset.
///
///     random_access_file file(context, "table", random_access_file::read_only);
///     async_read_at(file, 4096, buffer(page), [](error_code ec, std::size_t n) { ... });
template <class Executor = any_io_executor>
class basic_random_access_file : public basic_file<Executor> {
  using base = basic_file<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_random_access_file<Executor1>;
  };

  /// A closed file.
  explicit basic_random_access_file(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_random_access_file(ExecutionContext& context) : base(context.get_executor()) {}

  /// Opens a file. Throws as open.
  basic_random_access_file(const executor_type& ex, const char* path, file_base::flags open_flags)
      : base(ex, path, open_flags) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_random_access_file(ExecutionContext& context, const char* path, file_base::flags open_flags)
      : base(context.get_executor(), path, open_flags) {}
  basic_random_access_file(const executor_type& ex, const std::string& path,
                           file_base::flags open_flags)
      : base(ex, path.c_str(), open_flags) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_random_access_file(ExecutionContext& context, const std::string& path,
                           file_base::flags open_flags)
      : base(context.get_executor(), path.c_str(), open_flags) {}

  /// Takes over an open descriptor. Throws as assign.
  basic_random_access_file(const executor_type& ex, const native_handle_type& native)
      : base(ex, native) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_random_access_file(ExecutionContext& context, const native_handle_type& native)
      : base(context.get_executor(), native) {}

  basic_random_access_file(basic_random_access_file&&) noexcept = default;
  basic_random_access_file& operator=(basic_random_access_file&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_random_access_file(basic_random_access_file<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_random_access_file& operator=(basic_random_access_file<Executor1>&& other) {
    return *this = basic_random_access_file(std::move(other));
  }

  /// Reads at least one byte at `offset`, in bytes from the beginning. Returns the number of bytes
  /// read. Blocks. Reading nothing is success. Errors: error::eof at or after the end of the file;
  /// error::bad_descriptor; those of pread(2).
  template <class MutableBufferSequence>
  std::size_t read_some_at(std::uint64_t offset, const MutableBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = read_some_at(offset, buffers, ec);
    detail::throw_if(ec, "read_some_at");
    return n;
  }
  template <class MutableBufferSequence>
  std::size_t read_some_at(std::uint64_t offset, const MutableBufferSequence& buffers,
                           error_code& ec) {
    detail::buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    return this->handle().read_at(offset, adapter.vectors(), adapter.count(), ec);
  }

  /// Writes at least one byte at `offset`, in bytes from the beginning; the file grows as needed.
  /// Returns the number of bytes written. Blocks. Errors: error::bad_descriptor; those of
  /// pwrite(2), ENOSPC among them.
  template <class ConstBufferSequence>
  std::size_t write_some_at(std::uint64_t offset, const ConstBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = write_some_at(offset, buffers, ec);
    detail::throw_if(ec, "write_some_at");
    return n;
  }
  template <class ConstBufferSequence>
  std::size_t write_some_at(std::uint64_t offset, const ConstBufferSequence& buffers,
                            error_code& ec) {
    detail::buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    return this->handle().write_at(offset, adapter.vectors(), adapter.count(), ec);
  }

  /// Starts to read at least one byte at `offset`. The memory stays the caller's, and valid until
  /// completion.
  /// Completion: void(error_code, std::size_t bytes_read). Errors: as read_some_at;
  /// error::operation_aborted.
  /// Cancellation: terminal, partial and total, until the kernel or a helper thread has begun.
  template <class MutableBufferSequence, completion_token_for<void(error_code, std::size_t)>
                                             ReadToken = default_completion_token_t<Executor>>
  auto async_read_some_at(std::uint64_t offset, const MutableBufferSequence& buffers,
                          ReadToken&& token = default_completion_token_t<Executor>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(
        initiate_transfer<detail::read_buffers_operation>(*this), token, offset, buffers);
  }

  /// Starts to write at least one byte at `offset`. The memory stays the caller's, and valid until
  /// completion.
  /// Completion: void(error_code, std::size_t bytes_written). Errors: as write_some_at;
  /// error::operation_aborted.
  /// Cancellation: terminal and partial: a write under way may be cut short.
  template <class ConstBufferSequence, completion_token_for<void(error_code, std::size_t)>
                                           WriteToken = default_completion_token_t<Executor>>
  auto async_write_some_at(std::uint64_t offset, const ConstBufferSequence& buffers,
                           WriteToken&& token = default_completion_token_t<Executor>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(
        initiate_transfer<detail::write_buffers_operation>(*this), token, offset, buffers);
  }

 protected:
  static constexpr detail::io_queue status_queue = detail::io_queue::concurrent;

 private:
  friend detail::handle_access;

  template <template <class> class Operation>
  class initiate_transfer {
   public:
    using executor_type = Executor;
    explicit initiate_transfer(basic_random_access_file& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->get_executor(); }

    template <class Handler, class Sequence>
    void operator()(Handler&& handler, std::uint64_t offset, const Sequence& buffers) const {
      detail::with_handler(std::forward<Handler>(handler), [&](auto& h) {
        detail::descriptor_handle& io = self_->handle();
        if (const error_code ec = io.check_offsets())
          detail::complete_now(io.owner(), h, get_executor(), ec, std::size_t(0));
        else
          detail::start_io<Operation<Sequence>>(io, h, get_executor(), buffers,
                                                detail::transfer_mode::file_at, offset);
      });
    }

   private:
    basic_random_access_file* self_;
  };
};

}  // namespace WEFT_NAMESPACE
