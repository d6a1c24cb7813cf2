// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include <weft/net/endpoint_storage.hpp>
#include <weft/net/fwd.hpp>

namespace WEFT_NAMESPACE::local {

/// The address of a UNIX-domain socket (unix(7)): a path of at most 107 bytes in the file system;
/// an abstract name of at most 108 bytes, its leading NUL included; or, if empty, no name.
///
/// Distinct objects may be used from different threads. Meets the Endpoint requirements.
///
///     local::stream_protocol::endpoint file("/run/app/socket");
///     local::stream_protocol::endpoint abstract(std::string("\0app", 4));
template <class Protocol>
class basic_endpoint {
 public:
  using protocol_type = Protocol;
  using data_type = sockaddr;

  /// No name.
  basic_endpoint() noexcept = default;
  /// Throw system_error with name_too_long if the path does not fit.
  basic_endpoint(const char* path) : storage_(path) {}
  basic_endpoint(const std::string& path) : storage_(path) {}
  basic_endpoint(std::string_view path) : storage_(path) {}

  protocol_type protocol() const noexcept { return protocol_type(); }

  data_type* data() noexcept { return storage_.data(); }
  const data_type* data() const noexcept { return storage_.data(); }
  /// In bytes.
  std::size_t size() const noexcept { return storage_.size(); }
  /// Takes the size that a system call returned, and with it the length of the path. Throws
  /// system_error with invalid_argument if it is more than capacity().
  void resize(std::size_t size) { storage_.resize(size); }
  std::size_t capacity() const noexcept { return storage_.capacity(); }

  /// An abstract name begins with its NUL.
  std::string path() const { return std::string(storage_.path()); }
  /// Throws system_error with name_too_long if the path does not fit; then nothing changes.
  void path(const char* path) { storage_.path(path); }
  void path(const std::string& path) { storage_.path(path); }
  void path(std::string_view path) { storage_.path(path); }

  friend bool operator==(const basic_endpoint& a, const basic_endpoint& b) noexcept {
    return a.storage_.path() == b.storage_.path();
  }
  /// By the bytes of the path.
  friend std::strong_ordering operator<=>(const basic_endpoint& a,
                                          const basic_endpoint& b) noexcept {
    return a.storage_.path() <=> b.storage_.path();
  }

  /// Writes the path; an abstract name with '@' for its NUL, as ss(8) does.
  template <class Elem, class Traits>
  friend std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                                      const basic_endpoint& endpoint) {
    std::string path = endpoint.path();
    if (!path.empty() && path.front() == '\0')
      path.front() = '@';
    return os << path.c_str();
  }

 private:
  friend struct std::hash<basic_endpoint>;

  detail::local_endpoint storage_;
};

}  // namespace WEFT_NAMESPACE::local

template <class Protocol>
struct std::hash<WEFT_NAMESPACE::local::basic_endpoint<Protocol>> {
  std::size_t operator()(
      const WEFT_NAMESPACE::local::basic_endpoint<Protocol>& endpoint) const noexcept {
    return std::hash<std::string_view>()(endpoint.storage_.path());
  }
};
