// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <optional>

#include <weft/execution/execution_context.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/signal_set_state.hpp>

#include "io/signal/registry.hpp"

namespace WEFT_NAMESPACE::detail {

/// The signal sets of one context. While any of them has a wait, the context watches its bell;
/// otherwise not, so that it may run out of work.
class signal_service final : public execution_context::service {
 public:
  /// Throws system_error if no descriptor can be had.
  explicit signal_service(execution_context& context);
  ~signal_service();

  scheduler& owner() const noexcept { return handle_.owner(); }

  // ---- for the registry, with its lock held

  void wait_began() noexcept;
  void wait_ended() noexcept;

  signal_set_state* sets_ = nullptr;

 private:
  /// Ends when the bell has rung.
  class watch final : public status_operation {
   public:
    explicit watch(signal_service& service) noexcept;

   private:
    static void complete(operation* base, action what);
    signal_service* service_;
  };

  void shutdown() override;
  void notify_fork(execution_context::fork_event event) override;
  error_code open() noexcept;
  void begin_watch() noexcept;
  void watched() noexcept;

  io_handle handle_;
  signal_bell* bell_ = nullptr;
  // Guarded by the registry's lock.
  std::optional<watch> watch_;  // one at a time; the memory is used again
  std::size_t waits_ = 0;
  bool is_watching_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
