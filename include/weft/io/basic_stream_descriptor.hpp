// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_descriptor.hpp>

namespace WEFT_NAMESPACE::posix {

/// A descriptor that bytes are read from and written to, as a stream: standard input, a terminal, a
/// FIFO, a device. A regular file works too (as a stream_file does: io_uring or a helper thread
/// reads and writes it).
///
/// Thread safety: as said of handle_object; synchronous reads and writes may run beside each other.
///
///     posix::stream_descriptor in(context, ::dup(STDIN_FILENO));
///     async_read_until(in, dynamic_buffer(line), '\n', [](error_code ec, std::size_t n) { ... });
template <class Executor = any_io_executor>
class basic_stream_descriptor
    : public basic_descriptor<Executor>,
      public detail::stream_reads<basic_stream_descriptor<Executor>, Executor>,
      public detail::stream_writes<basic_stream_descriptor<Executor>, Executor> {
  using base = basic_descriptor<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_stream_descriptor<Executor1>;
  };

  /// A closed descriptor.
  explicit basic_stream_descriptor(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_stream_descriptor(ExecutionContext& context) : base(context) {}

  /// Takes over an open descriptor. Throws as assign.
  basic_stream_descriptor(const executor_type& ex, const native_handle_type& native)
      : base(ex, native) {}
  template <detail::executor_source<Executor> ExecutionContext>
  basic_stream_descriptor(ExecutionContext& context, const native_handle_type& native)
      : base(context, native) {}

  basic_stream_descriptor(basic_stream_descriptor&&) noexcept = default;
  basic_stream_descriptor& operator=(basic_stream_descriptor&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_stream_descriptor(basic_stream_descriptor<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_stream_descriptor& operator=(basic_stream_descriptor<Executor1>&& other) {
    return *this = basic_stream_descriptor(std::move(other));
  }
};

}  // namespace WEFT_NAMESPACE::posix
