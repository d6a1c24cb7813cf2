// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <istream>

#include <weft/net/basic_socket_streambuf.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Holds the buffer of a stream, so that it is constructed before the stream is.
template <class Protocol, class Clock, class WaitTraits>
class iostream_buffer {
 protected:
  iostream_buffer() = default;
  explicit iostream_buffer(basic_stream_socket<Protocol> socket) : buffer_(std::move(socket)) {}
  iostream_buffer(iostream_buffer&&) = default;
  iostream_buffer& operator=(iostream_buffer&&) = default;
  ~iostream_buffer() = default;

  basic_socket_streambuf<Protocol, Clock, WaitTraits> buffer_;
};

}  // namespace detail

/// A standard stream over a stream socket. Its calls block, at most until the expiry that was set;
/// the stream then turns bad, and `error()` says timed_out. Reading first sends what was written.
///
///     ip::tcp::iostream stream("www.example.com", "http");
///     stream.expires_after(std::chrono::seconds(10));
///     stream << "GET / HTTP/1.0\r\nHost: www.example.com\r\n\r\n";
///     std::string line;
///     std::getline(stream, line);
template <class Protocol, class Clock, class WaitTraits>
class basic_socket_iostream : private detail::iostream_buffer<Protocol, Clock, WaitTraits>,
                              public std::iostream {
  using holder = detail::iostream_buffer<Protocol, Clock, WaitTraits>;

 public:
  using protocol_type = Protocol;
  using endpoint_type = typename Protocol::endpoint;
  using clock_type = Clock;
  using time_point = typename Clock::time_point;
  using duration = typename Clock::duration;

  /// Not connected.
  basic_socket_iostream() : std::iostream(&this->buffer_) { setf(std::ios_base::unitbuf); }

  /// On a connected socket, which is taken over.
  explicit basic_socket_iostream(basic_stream_socket<Protocol> socket)
      : holder(std::move(socket)), std::iostream(&this->buffer_) {
    setf(std::ios_base::unitbuf);
  }

  /// Connects: to an endpoint, or to what `resolver::resolve(x...)` yields. The stream is bad if it
  /// fails.
  template <class... T>
    requires(sizeof...(T) > 0)
  explicit basic_socket_iostream(T... x) : basic_socket_iostream() {
    connect(x...);
  }

  basic_socket_iostream(basic_socket_iostream&& other)
      : holder(std::move(other)), std::iostream(std::move(other)) {
    set_rdbuf(&this->buffer_);
  }
  basic_socket_iostream& operator=(basic_socket_iostream&& other) {
    std::iostream::operator=(std::move(other));
    holder::operator=(std::move(other));
    return *this;
  }

  template <class... T>
  void connect(T... x) {
    if (rdbuf()->connect(x...) == nullptr)
      setstate(std::ios_base::failbit);
  }

  /// Sends what is left, and closes.
  void close() {
    if (rdbuf()->close() == nullptr)
      setstate(std::ios_base::failbit);
  }

  basic_socket_streambuf<Protocol, Clock, WaitTraits>* rdbuf() const {
    return const_cast<basic_socket_streambuf<Protocol, Clock, WaitTraits>*>(&this->buffer_);
  }
  basic_socket<Protocol>& socket() { return rdbuf()->socket(); }

  /// As of basic_socket_streambuf.
  const error_code& error() const { return rdbuf()->error(); }
  time_point expiry() const { return rdbuf()->expiry(); }
  void expires_at(const time_point& expiry_time) { rdbuf()->expires_at(expiry_time); }
  void expires_after(const duration& expiry_time) { rdbuf()->expires_after(expiry_time); }
};

}  // namespace WEFT_NAMESPACE
