// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/async_initiate.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/executor.hpp>
#include <weft/io/handle_object.hpp>
#include <weft/io/op/completed.hpp>
#include <weft/io/op/kept_paths.hpp>
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

/// Starts `Base`, with copies of the paths, on no descriptor.
template <class Base, class Handler, class IoExecutor, class... Args>
void start_on_paths(io_driver& driver, Handler& handler, const IoExecutor& executor,
                    const paths& names, Args&&... args) {
  start_io<kept_paths<Base, associated_allocator_t<Handler>>>(driver, handler, executor,
                                                              get_associated_allocator(handler),
                                                              names, std::forward<Args>(args)...);
}

/// Starts `Base(args...)` with paths, on no descriptor. Its results are an error_code and one
/// `Result` each.
template <class Executor, class Base, class... Result>
class fs_initiation {
 public:
  using executor_type = Executor;
  explicit fs_initiation(const Executor& ex) noexcept : executor_(ex) {}
  const executor_type& get_executor() const noexcept { return executor_; }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, const paths& names, Args&&... args) const {
    with_handler(std::forward<Handler>(handler), [&](auto& h) {
      io_driver& driver = use_io_driver(executor_context(executor_));
      if (names.have_null())
        complete_now(driver_scheduler(driver), h, executor_,
                     make_error_code(error::invalid_argument), Result()...);
      else
        start_on_paths<Base>(driver, h, executor_, names, std::forward<Args>(args)...);
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
