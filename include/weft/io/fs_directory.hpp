// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <weft/io/fs_initiation.hpp>
#include <weft/io/op/path.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Starts a path operation for `source`.
template <class Source, class Token>
auto start_path(Source& source, Token& token, const io_kind& kind, std::string path,
                std::string second = {}, unsigned flags = 0) {
  using executor = fs_executor_t<Source>;
  return async_initiate<Token, void(error_code)>(
      fs_initiation<executor, path_operation>(fs_executor(source)), token,
      paths{std::move(path), std::move(second)}, &kind, flags);
}

inline error_code check_paths(std::initializer_list<std::string_view> names) noexcept {
  for (const std::string_view name : names)
    if (has_null(name))
      return error::invalid_argument;
  return error_code();
}

}  // namespace detail

/// Changes to directories. `source` is an executor, or a context whose executor is taken. Paths are
/// copied; one with a null character gives error::invalid_argument.
///
/// Of all asynchronous ones: Completion: void(error_code). Errors: those of the system call, and
/// error::operation_aborted. Cancellation: terminal and partial, as long as neither kernel nor
/// helper thread has begun; after that the change happens and is reported. They run side by side,
/// in no order: wait for one before starting another that needs it. The synchronous ones block.
///
///     fs::async_rename(context, "new.tmp", "new", [](error_code ec) { ... });
namespace fs {

/// Removes a name, and the file if it was the last one: unlink(2). Not a directory: EISDIR.
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_unlink(Source&& source, std::string path,
                  Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::unlink_kind, std::move(path));
}
inline void unlink(const std::string& path, error_code& ec) {
  if (!(ec = detail::check_paths({path})))
    ec = detail::unlink_path(path.c_str());
}
inline void unlink(const std::string& path) {
  error_code ec;
  fs::unlink(path, ec);
  detail::throw_if(ec, "unlink");
}

/// Makes a directory, with `permissions` less the umask (0777 if not given): mkdir(2).
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_mkdir(Source&& source, std::string path, unsigned permissions,
                 Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::mkdir_kind, std::move(path), {}, permissions);
}
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_mkdir(Source&& source, std::string path,
                 Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::mkdir_kind, std::move(path), {}, 0777);
}
inline void mkdir(const std::string& path, unsigned permissions, error_code& ec) {
  if (!(ec = detail::check_paths({path})))
    ec = detail::make_directory(path.c_str(), permissions);
}
inline void mkdir(const std::string& path, error_code& ec) {
  fs::mkdir(path, 0777, ec);
}
inline void mkdir(const std::string& path, unsigned permissions = 0777) {
  error_code ec;
  fs::mkdir(path, permissions, ec);
  detail::throw_if(ec, "mkdir");
}

/// Removes an empty directory: rmdir(2).
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_rmdir(Source&& source, std::string path,
                 Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::rmdir_kind, std::move(path));
}
inline void rmdir(const std::string& path, error_code& ec) {
  if (!(ec = detail::check_paths({path})))
    ec = detail::remove_directory(path.c_str());
}
inline void rmdir(const std::string& path) {
  error_code ec;
  fs::rmdir(path, ec);
  detail::throw_if(ec, "rmdir");
}

/// What rename does if there is a file of the new name: renameat2(2).
enum class rename_mode : unsigned {
  replace = 0,     ///< It is replaced, in one step.
  no_replace = 1,  ///< EEXIST.
  exchange = 2     ///< The two exchange their names; it must exist.
};

/// Renames a file or directory within a file system, in one step: rename(2).
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_rename(Source&& source, std::string from, std::string to, rename_mode mode,
                  Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::rename_kind, std::move(from), std::move(to),
                            static_cast<unsigned>(mode));
}
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_rename(Source&& source, std::string from, std::string to,
                  Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::rename_kind, std::move(from), std::move(to));
}
inline void rename(const std::string& from, const std::string& to, rename_mode mode,
                   error_code& ec) {
  if (!(ec = detail::check_paths({from, to})))
    ec = detail::rename_path(from.c_str(), to.c_str(), static_cast<unsigned>(mode));
}
inline void rename(const std::string& from, const std::string& to, error_code& ec) {
  fs::rename(from, to, rename_mode::replace, ec);
}
inline void rename(const std::string& from, const std::string& to,
                   rename_mode mode = rename_mode::replace) {
  error_code ec;
  fs::rename(from, to, mode, ec);
  detail::throw_if(ec, "rename");
}

/// Gives an existing file another name: link(2).
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_link(Source&& source, std::string existing, std::string name,
                Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::link_kind, std::move(existing), std::move(name));
}
inline void link(const std::string& existing, const std::string& name, error_code& ec) {
  if (!(ec = detail::check_paths({existing, name})))
    ec = detail::link_path(existing.c_str(), name.c_str());
}
inline void link(const std::string& existing, const std::string& name) {
  error_code ec;
  fs::link(existing, name, ec);
  detail::throw_if(ec, "link");
}

/// Makes a symbolic link `name` with the content `target`, which need not exist: symlink(2).
template <detail::fs_source Source, completion_token_for<void(error_code)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
auto async_symlink(Source&& source, std::string target, std::string name,
                   Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return detail::start_path(source, token, detail::symlink_kind, std::move(target),
                            std::move(name));
}
inline void symlink(const std::string& target, const std::string& name, error_code& ec) {
  if (!(ec = detail::check_paths({target, name})))
    ec = detail::symlink_path(target.c_str(), name.c_str());
}
inline void symlink(const std::string& target, const std::string& name) {
  error_code ec;
  fs::symlink(target, name, ec);
  detail::throw_if(ec, "symlink");
}

}  // namespace fs
}  // namespace WEFT_NAMESPACE
