// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE {

/// The end of a pipe that bytes are read from, pipe(7). When the last writer has closed its end and
/// all is read, reads fail with error::eof.
///
/// Thread safety: as said of handle_object; synchronous reads may run beside each other.
///
///     readable_pipe in(context);
///     writable_pipe out(context);
///     connect_pipe(in, out);
template <class Executor = any_io_executor>
class basic_readable_pipe : public detail::handle_object<Executor>,
                            public detail::stream_reads<basic_readable_pipe<Executor>, Executor> {
  using base = detail::handle_object<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  using lowest_layer_type = basic_readable_pipe;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_readable_pipe<Executor1>;
  };

  /// A closed pipe.
  explicit basic_readable_pipe(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_readable_pipe(ExecutionContext& context) : base(context.get_executor()) {}

  /// Takes over an open end of a pipe. Throws as assign.
  basic_readable_pipe(const executor_type& ex, const native_handle_type& native) : base(ex) {
    this->assign(native);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_readable_pipe(ExecutionContext& context, const native_handle_type& native)
      : basic_readable_pipe(executor_type(context.get_executor()), native) {}

  basic_readable_pipe(basic_readable_pipe&&) noexcept = default;
  basic_readable_pipe& operator=(basic_readable_pipe&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_readable_pipe(basic_readable_pipe<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_readable_pipe& operator=(basic_readable_pipe<Executor1>&& other) {
    return *this = basic_readable_pipe(std::move(other));
  }

  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }
};

}  // namespace WEFT_NAMESPACE
