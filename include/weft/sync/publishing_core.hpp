// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>

#include <weft/sync/channel_core.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

struct publishing_access {
  /// What an operation of `object` is made of.
  template <class Object, class... Args>
  static auto initiation(Object& object, Args... args) {
    return typename Object::initiate(object, args...);
  }
};

/// One who waits for what is sent next; by itself, or as a case of a select.
template <class Core>
class publishing_wait : public core_operation<Core> {
 public:
  using wait_type = publishing_wait;  // what claims a select

  /// Under the lock of the core: whether it may be performed. A case may not that has lost.
  bool claim() noexcept { return !claim_ || claim_->claim(this); }
  bool is_case() const noexcept { return claim_ != nullptr; }
  bool has_lost() const noexcept { return claim_ && claim_->winner(); }

  channel_outcome outcome = channel_outcome::success;

 protected:
  publishing_wait(operation::function f, scheduler& owner, Core& core, select_claim* claim) noexcept
      : core_operation<Core>(f, owner, core), claim_(claim) {}
  ~publishing_wait() = default;

 private:
  select_claim* const claim_;
};

/// A core of which all that waits, waits for what is sent next, and that can be closed. `Wait` is
/// its operation, a publishing_wait. The derived class `Derived` has, called under the lock, `bool
/// receive(Wait&) noexcept`: whether there is a result, which it stores.
///
/// Cases of selects that have lost may be in the queue until their selects have ended. They are
/// passed over, and what they name is not touched.
template <class Derived, class Wait, class Policy>
class publishing_core : public wait_core<Policy> {
 public:
  /// There is nothing to wait for from now on.
  void end() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    is_closed_ = true;
    take_each([&](Wait& op) {
      op.outcome = channel_outcome::closed;
      done.grant(op);
    });
  }

  /// Whether it is pending now.
  bool start(Wait& op) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    if (perform(op, done))
      return false;
    enqueue(op);
    return true;
  }

  // ---- under the lock

  bool perform(Wait& op, completed_waits&) noexcept {
    if (!static_cast<Derived&>(*this).receive(op))
      return false;
    op.become_granted();
    return true;
  }
  void enqueue(Wait& op) noexcept {
    op.become_pending();
    waiting_.push(op);
  }
  void remove(Wait& op) noexcept { waiting_.remove(op); }

  void withdraw(waiting_operation& op, completed_waits& done) noexcept {
    remove(static_cast<Wait&>(op));
    done.abort(op);
  }
  /// A case of a select that has lost is not to be ended.
  bool abandon(waiting_operation& op, completed_waits& done) noexcept {
    if (!static_cast<Wait&>(op).claim())
      return false;
    withdraw(op, done);
    return true;
  }

 protected:
  using wait_core<Policy>::wait_core;
  ~publishing_core() override = default;

  /// Takes out those for which `may(op)`, and that may be performed, and calls `f(op)` of each.
  template <class May, class F>
  void take_if(May may, F f) noexcept {
    for (Wait* op = waiting_.front(); op;) {
      Wait* const next = wait_list<Wait>::after(*op);
      if (!op->has_lost() && may(*op) && op->claim()) {
        remove(*op);
        f(*op);
      }
      op = next;
    }
  }

  template <class F>
  void take_each(F f) noexcept {
    take_if([](const Wait&) { return true; }, f);
  }

  void take_pending(completed_waits& out) noexcept override {
    take_each([&](Wait& op) { out.abort(op); });
  }

  // Under the lock.
  bool is_closed_ = false;

 private:
  wait_list<Wait> waiting_;
};

}  // namespace WEFT_NAMESPACE::detail
