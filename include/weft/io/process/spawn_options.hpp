// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/io/basic_readable_pipe.hpp>
#include <weft/io/basic_writable_pipe.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// One of the three standard streams of a child.
struct child_stream {
  enum class source : std::uint8_t { inherit, null, descriptor, read, write, append, pipe, output };

  source from = source::inherit;
  int fd = -1;
  std::string path = {};
  descriptor_handle* pipe = nullptr;
};

}  // namespace detail

namespace process {

struct inherit_t {};
struct null_t {};
struct same_as_output_t {};

/// The parent's stream.
inline constexpr inherit_t inherit{};
/// Nothing: /dev/null.
inline constexpr null_t null{};
/// For the error stream: wherever the output goes.
inline constexpr same_as_output_t same_as_output{};

/// Where a child reads from.
class input {
  using source = detail::child_stream::source;

 public:
  input(inherit_t = {}) noexcept {}
  input(null_t) noexcept : stream_{source::null} {}
  /// What is written to `pipe`, which must be closed; it is opened by spawning.
  template <class Executor>
  input(basic_writable_pipe<Executor>& pipe) noexcept
      : stream_{.from = source::pipe, .pipe = &detail::handle_access::get(pipe)} {}
  /// A descriptor of the parent's, which stays open there.
  static input descriptor(int fd) { return input({.from = source::descriptor, .fd = fd}); }
  /// A file. The path is the parent's.
  static input file(std::string path) {
    return input({.from = source::read, .path = std::move(path)});
  }

  const detail::child_stream& stream() const noexcept { return stream_; }

 private:
  explicit input(detail::child_stream s) : stream_(std::move(s)) {}

  detail::child_stream stream_;
};

/// Where a child writes to.
class output {
  using source = detail::child_stream::source;

 public:
  output(inherit_t = {}) noexcept {}
  output(null_t) noexcept : stream_{source::null} {}
  output(same_as_output_t) noexcept : stream_{source::output} {}
  /// `pipe`, to be read; it must be closed, and is opened by spawning.
  template <class Executor>
  output(basic_readable_pipe<Executor>& pipe) noexcept
      : stream_{.from = source::pipe, .pipe = &detail::handle_access::get(pipe)} {}
  static output descriptor(int fd) { return output({.from = source::descriptor, .fd = fd}); }
  /// A file, made if there is none (mode 0666 less the umask), and emptied if there is one.
  static output file(std::string path) {
    return output({.from = source::write, .path = std::move(path)});
  }
  /// The same, but what there is stays.
  static output append(std::string path) {
    return output({.from = source::append, .path = std::move(path)});
  }

  const detail::child_stream& stream() const noexcept { return stream_; }

 private:
  explicit output(detail::child_stream s) : stream_(std::move(s)) {}

  detail::child_stream stream_;
};

/// How a child is to be started.
struct spawn_options {
  input in = {};
  output out = {};
  output err = {};
  /// All of the child's environment, as "NAME=value". Not given: the parent's.
  std::optional<std::vector<std::string>> environment = {};
  /// The child's working directory. Empty: the parent's.
  std::string directory = {};
  /// Whether it leads a process group of its own (so that a Ctrl-C meant for the parent does not
  /// reach it).
  bool new_process_group = false;
};

}  // namespace process
}  // namespace WEFT_NAMESPACE
