// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <streambuf>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/execution/system_executor.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Milliseconds from now to `expiry`, rounded up, for poll(2); 0 if it has passed, -1 for never.
template <class Clock>
int milliseconds_until(const typename Clock::time_point& expiry) {
  if (expiry == (Clock::time_point::max)())
    return -1;
  const auto now = Clock::now();
  if (expiry <= now)
    return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(expiry - now).count();
  return left < 1'000'000'000 ? static_cast<int>(left) : 1'000'000'000;
}

}  // namespace detail

/// A stream buffer over a stream socket. Its calls block, at most until the expiry that was set;
/// then they fail with timed_out. The socket belongs to the system context; no thread has to run.
///
/// Thread safety: distinct objects are independent; a shared one is not safe.
template <class Protocol, class Clock, class WaitTraits>
class basic_socket_streambuf : public std::streambuf {
 public:
  using protocol_type = Protocol;
  using endpoint_type = typename Protocol::endpoint;
  using clock_type = Clock;
  using time_point = typename Clock::time_point;
  using duration = typename Clock::duration;

  /// Not connected.
  basic_socket_streambuf() : socket_(system_executor()) { set_areas(); }

  /// On a connected socket, which is taken over.
  explicit basic_socket_streambuf(basic_stream_socket<Protocol> socket)
      : socket_(std::move(socket)) {
    set_areas();
  }

  basic_socket_streambuf(basic_socket_streambuf&& other)
      : basic_socket_streambuf(std::move(other), area_offsets(other)) {}

  basic_socket_streambuf& operator=(basic_socket_streambuf&& other) {
    close();
    const area_offsets offsets(other);
    std::streambuf::operator=(other);
    socket_ = std::move(other.socket_);
    get_area_ = std::move(other.get_area_);
    put_area_ = std::move(other.put_area_);
    error_ = other.error_;
    expiry_ = other.expiry_;
    set_areas(offsets);
    other.reset();
    return *this;
  }

  /// Sends what is left, and closes.
  ~basic_socket_streambuf() override {
    if (pptr() != pbase())
      overflow(traits_type::eof());
  }

  /// Closes a connection there may be, and connects to `endpoint`. Returns `this`, or null on
  /// failure: see `error`.
  basic_socket_streambuf* connect(const endpoint_type& endpoint) {
    close();
    connect_once(endpoint);
    return error_ ? nullptr : this;
  }

  /// The same with the endpoints that `resolver::resolve(x...)` yields, in turn. The resolver's
  /// header has to be included.
  template <class... T>
  basic_socket_streambuf* connect(T... x) {
    close();
    typename Protocol::resolver resolver(socket_.get_executor());
    const auto endpoints = resolver.resolve(x..., error_);
    if (!error_) {
      error_ = error::host_not_found;
      for (const auto& entry : endpoints) {
        error_code ignored;
        socket_.close(ignored);
        connect_once(entry);
        if (!error_ || error_ == error::timed_out)
          break;
      }
    }
    return error_ ? nullptr : this;
  }

  /// Sends what is left, and closes. Returns `this`, or null on failure.
  basic_socket_streambuf* close() {
    sync();
    error_ = error_code();
    socket_.close(error_);
    if (!error_)
      set_areas();
    return error_ ? nullptr : this;
  }

  basic_socket<Protocol>& socket() { return socket_; }

  /// The error of the last call that failed; success if none did since the connection.
  const error_code& error() const { return error_; }

  /// When calls that still block fail with timed_out; at first never.
  time_point expiry() const { return expiry_; }
  void expires_at(const time_point& expiry_time) { expiry_ = expiry_time; }
  void expires_after(const duration& expiry_time) { expiry_ = Clock::now() + expiry_time; }

 protected:
  int_type underflow() override {
    if (!put_area_.empty() && pptr() != pbase() && sync() != 0)
      return traits_type::eof();
    mutable_buffer area(get_area_.data() + putback_size, get_area_.size() - putback_size);
    const std::size_t n = transfer(detail::io_queue::read, [&](error_code& ec) {
      return socket_.receive(area, detail::os::msg_dontwait, ec);
    });
    if (error_)
      return traits_type::eof();
    setg(get_area_.data(), get_area_.data() + putback_size, get_area_.data() + putback_size + n);
    return traits_type::to_int_type(*gptr());
  }

  int_type overflow(int_type c) override {
    char last = traits_type::to_char_type(c);
    const bool has_last = !traits_type::eq_int_type(c, traits_type::eof());
    if (has_last && pptr() != epptr()) {
      *pptr() = last;
      pbump(1);
      return c;
    }
    if (!send_all(const_buffer(pbase(), static_cast<std::size_t>(pptr() - pbase()))))
      return traits_type::eof();
    setp(put_area_.data(), put_area_.data() + put_area_.size());
    if (has_last && put_area_.empty())
      return send_all(const_buffer(&last, 1)) ? c : traits_type::eof();
    if (has_last) {
      *pptr() = last;
      pbump(1);
    }
    return traits_type::not_eof(c);
  }

  int sync() override {
    return traits_type::eq_int_type(overflow(traits_type::eof()), traits_type::eof()) ? -1 : 0;
  }

  /// Only `setbuf(nullptr, 0)` has an effect: output is not buffered from then on.
  std::streambuf* setbuf(char* s, std::streamsize n) override {
    if (pptr() == pbase() && s == nullptr && n == 0) {
      put_area_.clear();
      setp(nullptr, nullptr);
    }
    return this;
  }

 private:
  static constexpr std::size_t putback_size = 8;
  static constexpr std::size_t area_size = 8192;

  /// Where the areas of a buffer stand, relative to their storage.
  struct area_offsets {
    explicit area_offsets(const basic_socket_streambuf& buf)
        : get(buf.gptr() - buf.eback()),
          get_end(buf.egptr() - buf.eback()),
          put(buf.pptr() - buf.pbase()) {}
    std::ptrdiff_t get, get_end, put;
  };

  basic_socket_streambuf(basic_socket_streambuf&& other, area_offsets offsets)
      : std::streambuf(other),
        socket_(std::move(other.socket_)),
        get_area_(std::move(other.get_area_)),
        put_area_(std::move(other.put_area_)),
        error_(other.error_),
        expiry_(other.expiry_) {
    set_areas(offsets);
    other.reset();
  }

  void set_areas() {
    setg(get_area_.data(), get_area_.data() + putback_size, get_area_.data() + putback_size);
    setp(put_area_.data(), put_area_.data() + put_area_.size());
  }
  void set_areas(const area_offsets& at) {
    setg(get_area_.data(), get_area_.data() + at.get, get_area_.data() + at.get_end);
    setp(put_area_.data(), put_area_.data() + put_area_.size());
    pbump(static_cast<int>(at.put));
  }
  void reset() {
    get_area_.assign(area_size, 0);
    put_area_.assign(area_size, 0);
    error_ = error_code();
    expiry_ = (time_point::max)();
    set_areas();
  }

  detail::socket_handle& handle() { return detail::socket_access::handle(socket_); }

  /// Repeats a call that does not block until it succeeds, fails, or the time is up.
  template <class Call>
  std::size_t transfer(detail::io_queue queue, Call call) {
    for (;;) {
      error_ = error_code();
      if (detail::milliseconds_until<Clock>(expiry_) == 0) {
        error_ = error::timed_out;
        return 0;
      }
      const std::size_t n = call(error_);
      if (error_ != error::would_block || !await(queue))
        return n;
    }
  }

  /// Waits until the socket is ready. False: failed, or time is up.
  bool await(detail::io_queue queue) {
    error_ = error_code();
    for (;;) {
      const int limit = detail::milliseconds_until<Clock>(expiry_);
      if (limit == 0) {
        error_ = error::timed_out;
        return false;
      }
      if (detail::poll_descriptor(socket_.native_handle(), detail::poll_events(queue), limit,
                                  error_))
        return true;
      if (error_)
        return false;
    }
  }

  bool send_all(const_buffer from) {
    while (from.size() != 0) {
      from += transfer(detail::io_queue::write, [&](error_code& ec) {
        return socket_.send(from, detail::os::msg_dontwait, ec);
      });
      if (error_)
        return false;
    }
    return true;
  }

  void connect_once(const endpoint_type& endpoint) {
    error_ = error_code();
    if (detail::milliseconds_until<Clock>(expiry_) == 0)
      error_ = error::timed_out;
    if (!error_)
      socket_.open(endpoint.protocol(), error_);
    if (!error_)
      socket_.non_blocking(true, error_);
    if (error_)
      return;
    socket_.connect(endpoint, error_);
    if (error_ == error::would_block && await(detail::io_queue::write))
      error_ = handle().take_error();
    error_code ignored;
    if (error_)
      socket_.close(ignored);
    else
      socket_.non_blocking(false, ignored);
  }

  basic_stream_socket<Protocol> socket_;
  std::vector<char> get_area_ = std::vector<char>(area_size);
  std::vector<char> put_area_ = std::vector<char>(area_size);
  error_code error_;
  time_point expiry_ = (time_point::max)();
};

}  // namespace WEFT_NAMESPACE
