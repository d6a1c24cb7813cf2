// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/descriptor_base.hpp>
#include <weft/io/op/wait.hpp>
#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE::posix {

/// Any descriptor of the operating system (an eventfd, a timerfd, a device, a descriptor of another
/// library): its readiness can be waited for, and requests be made by io_control.
/// basic_stream_descriptor reads and writes too.
///
/// A descriptor that does not block is put into non-blocking mode when an asynchronous operation
/// first needs it, and set back when it is closed or released. Regular files and directories are
/// always ready.
///
/// Thread safety: as said of handle_object.
///
///     posix::descriptor timer(context, ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
///     timer.async_wait(posix::descriptor::wait_read, [](error_code ec) { ... });
template <class Executor = any_io_executor>
class basic_descriptor : public detail::handle_object<Executor>, public descriptor_base {
  using base = detail::handle_object<Executor>;

 public:
  using typename base::executor_type;
  using typename base::native_handle_type;
  using lowest_layer_type = basic_descriptor;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_descriptor<Executor1>;
  };

  /// A closed descriptor.
  explicit basic_descriptor(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_descriptor(ExecutionContext& context) : base(context.get_executor()) {}

  /// Takes over an open descriptor. Throws as assign.
  basic_descriptor(const executor_type& ex, const native_handle_type& native) : base(ex) {
    this->assign(native);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_descriptor(ExecutionContext& context, const native_handle_type& native)
      : basic_descriptor(executor_type(context.get_executor()), native) {}

  basic_descriptor(basic_descriptor&&) noexcept = default;
  basic_descriptor& operator=(basic_descriptor&&) = default;
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_descriptor(basic_descriptor<Executor1>&& other) : base(std::move(other)) {}
  template <std::convertible_to<Executor> Executor1>
    requires(!std::same_as<Executor, Executor1>)
  basic_descriptor& operator=(basic_descriptor<Executor1>&& other) {
    return *this = basic_descriptor(std::move(other));
  }

  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// Gives the descriptor back, as handle_object::release; -1 if there is none.
  native_handle_type release() {
    error_code ignored;
    return base::release(ignored);
  }
  using base::release;

  /// ioctl(2). `command` has a request number `name()` and a pointer to its argument `data()`.
  template <class IoControlCommand>
  void io_control(IoControlCommand& command) {
    error_code ec;
    io_control(command, ec);
    detail::throw_if(ec, "io_control");
  }
  template <class IoControlCommand>
  void io_control(IoControlCommand& command, error_code& ec) {
    ec = handle().io_control(static_cast<unsigned long>(command.name()), command.data());
  }

  /// Whether synchronous calls fail with error::would_block instead of blocking. Asynchronous
  /// operations are not affected.
  bool non_blocking() const noexcept { return handle().non_blocking(); }
  void non_blocking(bool mode) {
    error_code ec;
    non_blocking(mode, ec);
    detail::throw_if(ec, "non_blocking");
  }
  void non_blocking(bool mode, error_code& ec) { ec = handle().non_blocking(mode); }

  /// Whether the descriptor itself is in non-blocking mode (O_NONBLOCK). Setting it to false while
  /// non_blocking() is true fails with error::invalid_argument.
  bool native_non_blocking() const noexcept { return handle().native_non_blocking(); }
  void native_non_blocking(bool mode) {
    error_code ec;
    native_non_blocking(mode, ec);
    detail::throw_if(ec, "native_non_blocking");
  }
  void native_non_blocking(bool mode, error_code& ec) { ec = handle().native_non_blocking(mode); }

  /// Blocks until the descriptor is ready for `w`.
  void wait(wait_type w) {
    error_code ec;
    wait(w, ec);
    detail::throw_if(ec, "wait");
  }
  void wait(wait_type w, error_code& ec) { ec = handle().wait(queue(w)); }

  /// Waits until the descriptor is ready for `w`. A regular file is ready at once.
  /// Completion: void(error_code). Errors: error::bad_descriptor, error::operation_aborted.
  /// Cancellation: terminal, partial and total; nothing is lost.
  template <completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(wait_type w, WaitToken&& token = default_completion_token_t<Executor>()) {
    return async_initiate<WaitToken, void(error_code)>(initiate_async_wait(*this), token, w);
  }

 private:
  class initiate_async_wait {
   public:
    using executor_type = Executor;
    explicit initiate_async_wait(basic_descriptor& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler, wait_type w) const {
      detail::with_handler(std::forward<Handler>(handler), [&](auto& h) {
        auto& io = self_->handle();
        if (io.is_open() && io.mode() == detail::transfer_mode::file)
          detail::complete_now(io.owner(), h, get_executor(), error_code());
        else
          detail::start_io<detail::readiness_operation>(io, h, get_executor(), queue(w));
      });
    }

   private:
    basic_descriptor* self_;
  };

  static constexpr detail::io_queue queue(wait_type w) noexcept {
    return w == wait_read    ? detail::io_queue::read
           : w == wait_write ? detail::io_queue::write
                             : detail::io_queue::except;
  }
  detail::descriptor_handle& handle() noexcept { return detail::handle_access::get(*this); }
  const detail::descriptor_handle& handle() const noexcept {
    return detail::handle_access::get(*this);
  }
};

}  // namespace WEFT_NAMESPACE::posix
