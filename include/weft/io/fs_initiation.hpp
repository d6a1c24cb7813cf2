// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/async_initiate.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/executor.hpp>
#include <weft/io/handle_object.hpp>
#include <weft/io/op/completed.hpp>
#include <weft/io/stream_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where an operation on the file system runs: an executor, or an execution context.
template <class T>
concept fs_source =
    any_style_executor<std::remove_cvref_t<T>> ||
    (std::convertible_to<T&, execution_context&> && requires(T& source) { source.get_executor(); });

template <fs_source Source>
auto fs_executor(Source& source) {
  if constexpr (any_style_executor<std::remove_cvref_t<Source>>)
    return source;
  else
    return source.get_executor();
}

template <class Source>
using fs_executor_t = decltype(fs_executor(std::declval<Source&>()));

/// An object with a descriptor: a file, a descriptor, a pipe.
template <class T>
concept handle_owner = requires(T& object) {
  { handle_access::get(object) } -> std::same_as<descriptor_handle&>;
};

/// The system would take such a path as one that ends there.
inline bool has_null(const std::string& path) noexcept {
  return path.find('\0') != std::string::npos;
}
template <class T>
bool has_null(const T&) noexcept {
  return false;
}

/// Starts `Base(args...)` on no descriptor. Its results are an error_code and one `Result` each.
template <class Executor, class Base, class... Result>
class fs_initiation {
 public:
  using executor_type = Executor;
  explicit fs_initiation(const Executor& ex) noexcept : executor_(ex) {}
  const executor_type& get_executor() const noexcept { return executor_; }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const {
    with_handler(std::forward<Handler>(handler), [&](auto& h) {
      io_driver& driver = use_io_driver(executor_context(executor_));
      if ((has_null(args) || ...))
        complete_now(driver_scheduler(driver), h, executor_,
                     make_error_code(error::invalid_argument), Result()...);
      else
        start_io<Base>(driver, h, executor_, std::forward<Args>(args)...);
    });
  }

 private:
  Executor executor_;
};

/// Starts `Base(args...)` on the descriptor of an object.
template <class Object, class Base>
class handle_initiation {
 public:
  using executor_type = typename Object::executor_type;
  explicit handle_initiation(Object& self) noexcept : self_(&self) {}
  const executor_type& get_executor() const noexcept { return self_->get_executor(); }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const {
    with_handler(std::forward<Handler>(handler), [&](auto& h) {
      start_io<Base>(handle_access::get(*self_), h, get_executor(), std::forward<Args>(args)...);
    });
  }

 private:
  Object* self_;
};

}  // namespace WEFT_NAMESPACE::detail
