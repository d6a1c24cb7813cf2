// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/net/basic_socket_acceptor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// The type of a socket or acceptor on another executor.
template <class Socket, class Executor>
using rebound_t = typename Socket::template rebind_executor<Executor>::other;

}  // namespace detail

/// Moves an open socket or acceptor to another executor, most often that of another context, which
/// serves it from then on; moving or assigning the object itself leaves its descriptor with the
/// context it has. Returns the new object; `socket` is left closed, with its executor.
///
/// The connection, its options and modes stay as they are, and no byte is lost; but what a
/// receive_stream or accept_stream has taken ahead stays with that.
///
/// Operations pending on `socket` are cancelled, as by `release`: they complete with
/// operation_aborted, on its own context.
///
/// Errors: bad_descriptor (`socket` is closed), no_memory; then `socket` is as it was, and the
/// returned object is closed.
/// Thread safety: that of `release` for `socket`; other threads may run the two contexts.
/// Complexity: linear in the number of operations pending; at most one system call but for those.
///
///     acceptor.async_accept([&](error_code ec, tcp::socket peer) {
///       if (!ec)
///         serve(hand_over(std::move(peer), least_busy()));
///     });
template <class Socket, detail::any_executor_type Executor>
  requires(!std::is_reference_v<Socket>)
detail::rebound_t<Socket, Executor> hand_over(Socket&& socket, const Executor& ex, error_code& ec) {
  detail::rebound_t<Socket, Executor> result(ex);
  ec = detail::socket_access::take(result, socket);
  return result;
}
template <class Socket, detail::any_executor_type Executor>
  requires(!std::is_reference_v<Socket>)
detail::rebound_t<Socket, Executor> hand_over(Socket&& socket, const Executor& ex) {
  error_code ec;
  auto result = hand_over(std::move(socket), ex, ec);
  detail::throw_if(ec, "hand_over");
  return result;
}

/// To the executor of a context.
template <class Socket, detail::any_context_type ExecutionContext>
  requires(!std::is_reference_v<Socket>)
auto hand_over(Socket&& socket, ExecutionContext& context, error_code& ec) {
  return hand_over(std::move(socket), context.get_executor(), ec);
}
template <class Socket, detail::any_context_type ExecutionContext>
  requires(!std::is_reference_v<Socket>)
auto hand_over(Socket&& socket, ExecutionContext& context) {
  return hand_over(std::move(socket), context.get_executor());
}

}  // namespace WEFT_NAMESPACE
