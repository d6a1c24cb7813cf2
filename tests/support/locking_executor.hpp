// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>
#include <utility>

#include <weft/context/io_context.hpp>
#include <weft/execution/properties.hpp>

namespace weft_test {

/// An executor as a user writes it: it runs everything on an io_context, under one recursive lock.
class locking_executor {
 public:
  locking_executor(weft::io_context& context, std::recursive_mutex& mutex) noexcept
      : context_(&context), mutex_(&mutex) {}

  weft::io_context& query(weft::execution::context_t) const noexcept { return *context_; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }

  template <class Function>
  void execute(Function&& f) const {
    weft::require(context_->get_executor(), weft::execution::blocking.never)
        .execute([mutex = mutex_,
                  function = std::decay_t<Function>(std::forward<Function>(f))]() mutable {
          const std::lock_guard lock(*mutex);
          ++depth_;
          struct leave {
            ~leave() { --depth_; }
          } at_end;
          std::move(function)();
        });
  }

  /// Whether the calling thread is in a function that such an executor runs.
  static bool inside() noexcept { return depth_ != 0; }

  friend bool operator==(const locking_executor&, const locking_executor&) noexcept = default;

 private:
  static inline thread_local int depth_ = 0;

  weft::io_context* context_;
  std::recursive_mutex* mutex_;
};

}  // namespace weft_test
