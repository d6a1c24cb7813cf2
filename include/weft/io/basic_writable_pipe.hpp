// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE {

/// The end of a pipe that bytes are written to, pipe(7). When the last reader has closed its end,
/// writes fail with error::broken_pipe.
///
/// Thread safety: as said of handle_object; synchronous writes may run beside each other.
///
///     readable_pipe in(context);
///     writable_pipe out(context);
///     connect_pipe(in, out);
template <class Executor = any_io_executor>
class basic_writable_pipe : public detail::handle_object<Executor>,
                            public detail::stream_writes<basic_writable_pipe<Executor>, Executor> {
  using base = detail::handle_object<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  using lowest_layer_type = basic_writable_pipe;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_writable_pipe<Executor1>;
  };

  /// A closed pipe.
  explicit basic_writable_pipe(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_writable_pipe(ExecutionContext& context) : base(context.get_executor()) {}

  /// Takes over an open end of a pipe. Throws as assign.
  basic_writable_pipe(const executor_type& ex, const native_handle_type& native) : base(ex) {
    this->assign(native);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_writable_pipe(ExecutionContext& context, const native_handle_type& native)
      : basic_writable_pipe(executor_type(context.get_executor()), native) {}

  basic_writable_pipe(basic_writable_pipe&&) noexcept = default;
  basic_writable_pipe& operator=(basic_writable_pipe&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_writable_pipe(basic_writable_pipe<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_writable_pipe& operator=(basic_writable_pipe<Executor1>&& other) {
    return *this = basic_writable_pipe(std::move(other));
  }

  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }
};

}  // namespace WEFT_NAMESPACE
