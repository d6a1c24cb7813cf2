// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/file_status.hpp>
#include <weft/io/fs_initiation.hpp>
#include <weft/io/op/stat.hpp>

namespace WEFT_NAMESPACE::fs {

/// Takes the status of the file that `path` names; of a symbolic link itself with
/// symlinks::do_not_follow. `source` is an executor, or a context whose executor is taken.
///
/// `path` is copied. Completion: void(error_code, file_status). Errors: those of statx(2): ENOENT,
/// EACCES, ENOTDIR ...; error::invalid_argument for a path with a null character;
/// error::operation_aborted.
/// Cancellation: terminal, partial and total, as long as neither kernel nor helper thread has
/// begun.
///
///     fs::async_stat(context, "in.txt", [](error_code ec, fs::file_status s) { use(s.size); });
template <detail::fs_source Source, completion_token_for<void(error_code, file_status)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
  requires(!detail::handle_owner<Source>)
auto async_stat(Source&& source, std::string path, symlinks links,
                Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  using executor = detail::fs_executor_t<Source>;
  return async_initiate<Token, void(error_code, file_status)>(
      detail::fs_initiation<executor, detail::stat_operation, file_status>(
          detail::fs_executor(source)),
      token, detail::paths{std::move(path)}, detail::io_queue::concurrent, links);
}
template <detail::fs_source Source, completion_token_for<void(error_code, file_status)> Token =
                                        default_completion_token_t<detail::fs_executor_t<Source>>>
  requires(!detail::handle_owner<Source>)
auto async_stat(Source&& source, std::string path,
                Token&& token = default_completion_token_t<detail::fs_executor_t<Source>>()) {
  return fs::async_stat(source, std::move(path), symlinks::follow, std::forward<Token>(token));
}

/// Takes the status of an open file; after the transfers of a stream_file that were started before.
/// Completion, errors, cancellation: as above; error::bad_descriptor if the file is closed.
template <detail::handle_owner File, completion_token_for<void(error_code, file_status)> Token =
                                         default_completion_token_t<typename File::executor_type>>
auto async_stat(File& file,
                Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return async_initiate<Token, void(error_code, file_status)>(
      detail::handle_initiation<File, detail::stat_operation>(file), token,
      detail::handle_access::status_queue<File>);
}

/// The status, at once; blocks.
inline file_status stat(const std::string& path, symlinks links, error_code& ec) {
  ec = error::invalid_argument;
  return detail::has_null(path) ? file_status() : detail::stat_path(path.c_str(), links, ec);
}
inline file_status stat(const std::string& path, error_code& ec) {
  return fs::stat(path, symlinks::follow, ec);
}
inline file_status stat(const std::string& path, symlinks links = symlinks::follow) {
  error_code ec;
  const file_status s = fs::stat(path, links, ec);
  detail::throw_if(ec, "stat");
  return s;
}
template <detail::handle_owner File>
file_status stat(const File& file, error_code& ec) {
  return detail::stat_descriptor(detail::handle_access::get(file).native_handle(), ec);
}
template <detail::handle_owner File>
file_status stat(const File& file) {
  error_code ec;
  const file_status s = fs::stat(file, ec);
  detail::throw_if(ec, "stat");
  return s;
}

}  // namespace WEFT_NAMESPACE::fs
