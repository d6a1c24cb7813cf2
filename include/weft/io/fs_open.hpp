// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_file.hpp>
#include <weft/io/fs_initiation.hpp>
#include <weft/io/op/open.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Opens into an object of the caller's.
class open_into_operation : public open_operation {
 public:
  open_into_operation(operation::function f, scheduler& owner, int how, unsigned permission_bits,
                      descriptor_handle* target) noexcept
      : open_operation(f, owner, how, permission_bits), target_(target) {}

  operation_results<error_code> take_results() noexcept {
    if (!ec && !(ec = target_->assign(opened)))
      take();
    return {ec};
  }

 private:
  descriptor_handle* target_;
};

/// Opens a new object.
template <class File>
class open_new_operation : public open_operation {
 public:
  using executor_type = typename File::executor_type;

  open_new_operation(operation::function f, scheduler& owner, int how, unsigned permission_bits,
                     const executor_type& executor)
      : open_operation(f, owner, how, permission_bits), executor_(executor) {}

  operation_results<error_code, File> take_results() {
    File file(executor_);
    if (!ec && !(ec = handle_access::get(file).assign(opened)))
      take();
    return {ec, std::move(file)};
  }

 private:
  executor_type executor_;
};

template <class Object>
class open_into_initiation {
 public:
  using executor_type = typename Object::executor_type;
  explicit open_into_initiation(Object& self) noexcept : self_(&self) {}
  const executor_type& get_executor() const noexcept { return self_->get_executor(); }

  template <class Handler>
  void operator()(Handler&& handler, const paths& names, file_base::flags flags,
                  unsigned permissions) const {
    with_handler(std::forward<Handler>(handler), [&](auto& h) {
      descriptor_handle& io = handle_access::get(*self_);
      const error_code ec = check_open(io.is_open(), flags, names);
      if (ec)
        complete_now(io.owner(), h, get_executor(), ec);
      else
        start_on_paths<open_into_operation>(io.driver(), h, get_executor(), names,
                                            static_cast<int>(flags), permissions, &io);
    });
  }

  static error_code check_open(bool open, file_base::flags flags, const paths& names) noexcept {
    if (open)
      return error::already_open;
    const auto access = file_base::write_only | file_base::read_write;
    return (flags & access) == access || names.have_null() ? error::invalid_argument : error_code();
  }

 private:
  Object* self_;
};

template <class File>
class open_new_initiation {
 public:
  using executor_type = typename File::executor_type;
  explicit open_new_initiation(const executor_type& ex) : executor_(ex) {}
  const executor_type& get_executor() const noexcept { return executor_; }

  template <class Handler>
  void operator()(Handler&& handler, const paths& names, file_base::flags flags,
                  unsigned permissions) const {
    with_handler(std::forward<Handler>(handler), [&](auto& h) {
      io_driver& driver = use_io_driver(executor_context(executor_));
      const error_code ec = open_into_initiation<File>::check_open(false, flags, names);
      if (ec)
        complete_now(driver_scheduler(driver), h, executor_, ec, File(executor_));
      else
        start_on_paths<open_new_operation<File>>(driver, h, executor_, names,
                                                 static_cast<int>(flags), permissions, executor_);
    });
  }

 private:
  executor_type executor_;
};

}  // namespace detail

namespace fs {

// The leading void keeps the calls that name their File, as async_open<File>(...), to the overloads
// that make one.

/// Opens a file into `file`, a closed stream_file, random_access_file, posix::stream_descriptor or
/// posix::descriptor (the way to open a directory, for fsync). The descriptor is close-on-exec.
/// `flags` are those of file_base: exactly one of read_only, write_only and read_write, with any of
/// the others. A file that is created gets `permissions` less the umask: 0666 if not given.
///
/// `path` is copied. `file` must stay where it is until completion.
/// Completion: void(error_code). Errors: error::already_open, error::invalid_argument, and those of
/// open(2): ENOENT, EACCES, EEXIST, EISDIR, error::no_descriptors ...; error::operation_aborted.
/// Cancellation: terminal and partial, as long as neither kernel nor helper thread has begun. A
/// file may then have been created; what was opened is closed. Opening a FIFO waits for its other
/// end, on a helper thread (epoll) out of reach of cancellation.
///
///     stream_file file(context);
///     fs::async_open(file, "in.txt", stream_file::read_only, [](error_code ec) { ... });
template <std::same_as<void> = void, detail::handle_owner File,
          completion_token_for<void(error_code)> Token =
              default_completion_token_t<typename File::executor_type>>
auto async_open(File& file, std::string path, file_base::flags flags, unsigned permissions,
                Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return async_initiate<Token, void(error_code)>(detail::open_into_initiation<File>(file), token,
                                                 detail::paths{std::move(path)}, flags,
                                                 permissions);
}
template <std::same_as<void> = void, detail::handle_owner File,
          completion_token_for<void(error_code)> Token =
              default_completion_token_t<typename File::executor_type>>
auto async_open(File& file, std::string path, file_base::flags flags,
                Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return async_open(file, std::move(path), flags, detail::default_permissions,
                    std::forward<Token>(token));
}

/// The same, but hands over a new object: fs::async_open<stream_file>(executor, ...). With a
/// context in place of the executor, its own is taken.
/// Completion: void(error_code, File). After an error the file is closed.
template <detail::handle_owner File, detail::fs_source Source,
          completion_token_for<void(error_code, File)> Token =
              default_completion_token_t<typename File::executor_type>>
  requires(!detail::handle_owner<Source>)
auto async_open(Source&& source, std::string path, file_base::flags flags, unsigned permissions,
                Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return async_initiate<Token, void(error_code, File)>(
      detail::open_new_initiation<File>(detail::fs_executor(source)), token,
      detail::paths{std::move(path)}, flags, permissions);
}
template <detail::handle_owner File, detail::fs_source Source,
          completion_token_for<void(error_code, File)> Token =
              default_completion_token_t<typename File::executor_type>>
  requires(!detail::handle_owner<Source>)
auto async_open(Source&& source, std::string path, file_base::flags flags,
                Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return async_open<File>(source, std::move(path), flags, detail::default_permissions,
                          std::forward<Token>(token));
}

/// Opens a file at once; blocks. Errors: as async_open.
template <detail::handle_owner File>
void open(File& file, const std::string& path, file_base::flags flags, unsigned permissions,
          error_code& ec) {
  ec = detail::has_null(path)
           ? make_error_code(error::invalid_argument)
           : detail::open_file(detail::handle_access::get(file), path.c_str(), flags, permissions);
}
template <detail::handle_owner File>
void open(File& file, const std::string& path, file_base::flags flags, error_code& ec) {
  open(file, path, flags, detail::default_permissions, ec);
}
template <detail::handle_owner File>
void open(File& file, const std::string& path, file_base::flags flags,
          unsigned permissions = detail::default_permissions) {
  error_code ec;
  open(file, path, flags, permissions, ec);
  detail::throw_if(ec, "open");
}

}  // namespace fs
}  // namespace WEFT_NAMESPACE
