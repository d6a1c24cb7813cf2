// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <utility>

#include <weft/context/io_context.hpp>
#include <weft/context/strand.hpp>

namespace WEFT_NAMESPACE {

/// A strand over an io_context, made from the context itself: the name by which older programs know
/// `strand<io_context::executor_type>`, whose members and promises it has. Copies are one strand.
///
/// Beside the executors' members it has dispatch, post and defer without an allocator.
///
///     weft::io_context::strand serial(context);
///     timer.async_wait(weft::bind_executor(serial, handler));
class io_context::strand : public WEFT_NAMESPACE::strand<io_context::executor_type> {
  using base = WEFT_NAMESPACE::strand<io_context::executor_type>;

 public:
  explicit strand(io_context& context) : base(context.get_executor()) {}

  io_context& context() const noexcept { return get_inner_executor().context(); }

  using base::defer;
  using base::dispatch;
  using base::post;
  template <class Function>
  void dispatch(Function&& f) const {
    base::dispatch(std::forward<Function>(f), std::allocator<void>());
  }
  template <class Function>
  void post(Function&& f) const {
    base::post(std::forward<Function>(f), std::allocator<void>());
  }
  template <class Function>
  void defer(Function&& f) const {
    base::defer(std::forward<Function>(f), std::allocator<void>());
  }

  friend bool operator==(const strand& a, const strand& b) noexcept {
    return static_cast<const base&>(a) == static_cast<const base&>(b);
  }
};

}  // namespace WEFT_NAMESPACE
