// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>

#include <weft/sync/channel_core.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

/// A core of which all that waits, waits for what is sent next, and that can be closed. `Wait` is
/// its operation, with a member `outcome`.
template <class Wait, class Policy>
class publishing_core : public wait_core<Policy> {
 public:
  /// There is nothing to wait for from now on.
  void end() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    is_closed_ = true;
    while (Wait* const op = waiting_.pop()) {
      op->outcome = channel_outcome::closed;
      done.grant(*op);
    }
  }

  void withdraw(waiting_operation& op, completed_waits& done) noexcept {
    waiting_.remove(static_cast<Wait&>(op));
    done.abort(op);
  }

 protected:
  using wait_core<Policy>::wait_core;
  ~publishing_core() override = default;

  void take_pending(completed_waits& out) noexcept override { out.abort(waiting_); }

  // Under the lock.
  wait_list<Wait> waiting_;
  bool is_closed_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
