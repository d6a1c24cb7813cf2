// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_readable_pipe.hpp>
#include <weft/io/basic_writable_pipe.hpp>

namespace WEFT_NAMESPACE {

namespace detail {
/// pipe2(2) into two closed handles, both close-on-exec.
WEFT_API error_code connect_pipe(descriptor_handle& read_end,
                                 descriptor_handle& write_end) noexcept;
}  // namespace detail

/// Connects two closed pipe objects by a new pipe. Both descriptors are close-on-exec, and in
/// blocking mode until an asynchronous operation is started. Fails with error::already_open,
/// error::no_descriptors; then both objects are as they were.
template <class Executor1, class Executor2>
void connect_pipe(basic_readable_pipe<Executor1>& read_end,
                  basic_writable_pipe<Executor2>& write_end, error_code& ec) {
  ec = detail::connect_pipe(detail::handle_access::get(read_end),
                            detail::handle_access::get(write_end));
}
template <class Executor1, class Executor2>
void connect_pipe(basic_readable_pipe<Executor1>& read_end,
                  basic_writable_pipe<Executor2>& write_end) {
  error_code ec;
  connect_pipe(read_end, write_end, ec);
  detail::throw_if(ec, "connect_pipe");
}

}  // namespace WEFT_NAMESPACE
