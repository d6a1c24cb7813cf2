// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/composed_transfer.hpp>
#include <weft/io/match_condition.hpp>

namespace WEFT_NAMESPACE {

/// Reads into a dynamic buffer or a basic_streambuf until it contains a delimiter, a character or a
/// string, or what a match condition (see is_match_condition) accepts: as many calls of
/// `stream.read_some` as that takes, none if the match is there already.
///
/// Returns the number of bytes up to and including the match; more may have been read, which stay
/// in the buffer for the next call. Returns 0 after an error: what was read stays in the buffer.
/// Errors: those of the stream; `error::eof` where it ends without a match; `error::not_found`
/// where the buffer's maximum size is reached without one. The forms without `ec` throw
/// system_error. Growing the buffer may throw too. Regular expressions are not among the
/// delimiters: a match condition can hold one.
///
/// Complexity: what was searched without success is not searched again.
///
///     std::string received;
///     std::size_t n = read_until(socket, dynamic_buffer(received), "\r\n");
///     std::string line = received.substr(0, n);
///     received.erase(0, n);
template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers, char delimiter,
                       error_code& ec) {
  return detail::run_transfer(detail::read_channel<SyncReadStream>{stream},
                              detail::make_matching_transfer()(
                                  detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)),
                                  detail::match_char{delimiter}),
                              ec);
}
template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers, std::string_view delimiter,
                       error_code& ec) {
  return detail::run_transfer(detail::read_channel<SyncReadStream>{stream},
                              detail::make_matching_transfer()(
                                  detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)),
                                  detail::match_string<std::string_view>{delimiter}),
                              ec);
}
template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer,
          detail::match_condition_for<detail::dynamic_target_t<DynamicBuffer>> MatchCondition>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers, MatchCondition condition,
                       error_code& ec) {
  return detail::run_transfer(
      detail::read_channel<SyncReadStream>{stream},
      detail::make_matching_transfer()(
          detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)), std::move(condition)),
      ec);
}

template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers, char delimiter) {
  error_code ec;
  const std::size_t n = read_until(stream, std::forward<DynamicBuffer>(buffers), delimiter, ec);
  detail::throw_if(ec, "read_until");
  return n;
}
template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers,
                       std::string_view delimiter) {
  error_code ec;
  const std::size_t n = read_until(stream, std::forward<DynamicBuffer>(buffers), delimiter, ec);
  detail::throw_if(ec, "read_until");
  return n;
}
template <class SyncReadStream, detail::makes_dynamic_target DynamicBuffer,
          detail::match_condition_for<detail::dynamic_target_t<DynamicBuffer>> MatchCondition>
std::size_t read_until(SyncReadStream& stream, DynamicBuffer&& buffers, MatchCondition condition) {
  error_code ec;
  const std::size_t n =
      read_until(stream, std::forward<DynamicBuffer>(buffers), std::move(condition), ec);
  detail::throw_if(ec, "read_until");
  return n;
}

/// The asynchronous form of `read_until`: as many calls of `stream.async_read_some` as that takes.
/// The program starts no other read on the stream, and leaves the buffer alone, until it has
/// completed. Never completes inside this call, unless by an associated immediate executor (where
/// the match is there already).
///
/// Completion signature: `void(error_code, std::size_t)`: the bytes up to and including the match,
/// 0 after an error. What the dynamic buffer refers to must stay valid until the handler is called.
/// Errors: those of the stream, `error::eof` where it ended without a match; `error::not_found`
/// where the maximum size was reached without one; `operation_aborted` when cancelled; `no_memory`
/// where a step after the first could not be allocated. Throws what the first step throws.
/// Cancellation: terminal and partial; total as long as nothing has been read. Bytes that were read
/// stay in the buffer: none is lost.
/// Thread safety: as the stream; a request for cancellation may come from any thread.
///
///     async_read_until(socket, dynamic_buffer(line_), '\n', [this](error_code ec, std::size_t n) {
///       if (!ec) handle(std::string_view(line_).substr(0, n));
///     });
template <class AsyncReadStream, detail::makes_dynamic_target DynamicBuffer,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncReadStream::executor_type>>
auto async_read_until(AsyncReadStream& stream, DynamicBuffer&& buffers, char delimiter,
                      ReadToken&& token = ReadToken()) {
  return detail::start_transfer<detail::make_matching_transfer>(
      detail::read_channel<AsyncReadStream>{stream},
      detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)),
      detail::match_char{delimiter}, std::forward<ReadToken>(token));
}
template <class AsyncReadStream, detail::makes_dynamic_target DynamicBuffer,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncReadStream::executor_type>>
auto async_read_until(AsyncReadStream& stream, DynamicBuffer&& buffers, std::string_view delimiter,
                      ReadToken&& token = ReadToken()) {
  return detail::start_transfer<detail::make_matching_transfer>(
      detail::read_channel<AsyncReadStream>{stream},
      detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)),
      detail::match_string<std::string>{std::string(delimiter)}, std::forward<ReadToken>(token));
}
template <class AsyncReadStream, detail::makes_dynamic_target DynamicBuffer,
          detail::match_condition_for<detail::dynamic_target_t<DynamicBuffer>> MatchCondition,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncReadStream::executor_type>>
auto async_read_until(AsyncReadStream& stream, DynamicBuffer&& buffers, MatchCondition condition,
                      ReadToken&& token = ReadToken()) {
  return detail::start_transfer<detail::make_matching_transfer>(
      detail::read_channel<AsyncReadStream>{stream},
      detail::make_dynamic_target(std::forward<DynamicBuffer>(buffers)), std::move(condition),
      std::forward<ReadToken>(token));
}

}  // namespace WEFT_NAMESPACE
