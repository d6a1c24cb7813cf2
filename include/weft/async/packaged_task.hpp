// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <future>
#include <utility>

#include <weft/async/async_initiate.hpp>

namespace WEFT_NAMESPACE {

/// A std::packaged_task as a completion token: it is the handler, and its future the result.
///     std::packaged_task<std::size_t(error_code, std::size_t)> task(check);
///     std::future<std::size_t> f = socket.async_read_some(buffer, std::move(task));
template <class Result, class... Args, class Signature>
class async_result<std::packaged_task<Result(Args...)>, Signature> {
 public:
  using completion_handler_type = std::packaged_task<Result(Args...)>;
  using return_type = std::future<Result>;

  explicit async_result(completion_handler_type& task) : future_(task.get_future()) {}
  return_type get() { return std::move(future_); }

  template <class Initiation, class Token, class... InitArgs>
    requires completion_handler_for<completion_handler_type, Signature>
  static return_type initiate(Initiation&& initiation, Token&& token, InitArgs&&... args) {
    completion_handler_type task(std::forward<Token>(token));
    auto future = task.get_future();
    std::forward<Initiation>(initiation)(std::move(task), std::forward<InitArgs>(args)...);
    return future;
  }

 private:
  return_type future_;
};

}  // namespace WEFT_NAMESPACE
