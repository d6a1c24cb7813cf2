// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/context/scheduler.hpp>

namespace WEFT_NAMESPACE::detail {

/// The initiation of an operation that waits in an object of the program's own memory, as in the
/// queue of a mutex, rather than in the kernel. A handler waits for it as for any other. A
/// coroutine or a fiber needs no handler: it keeps the operation in its own frame.
///
/// An initiation has an `executor_type` with `get_executor()`, `scheduler& owner()`, of the context
/// that the object belongs to, and `operation_type`, what handler_operation takes as its base. That
/// has beyond it
///   - a constructor (function, scheduler& owner, Initiation&&), where the owner is the scheduler
///     that completes it, not always that of the object;
///   - `bool start() noexcept`: false if it has completed at once, and is the caller's to end.
///     Otherwise it is pending, as work of its owner; any thread ends it, exactly once, by
///     scheduler_complete;
///   - `void cancel(cancellation_type) noexcept`, on any thread, from its start until it is ended:
///     what a request of that type does to it. It does nothing to one that has completed;
///   - `void retain() noexcept`, called before the start of one that may be cancelled: keeps what
///     `cancel` touches until the operation is destroyed;
///   - if its destructor does more than to free memory, `void retain_for_others() noexcept`, called
///     before the start of one that an executor gets which weft does not know, and may destroy when
///     it likes;
///   - if a start that has completed it leaves something to do that may run code of the program's,
///     `void conclude() noexcept`, called after that start, with no lock held;
///   - if it can tell so cheaply, `bool try_complete() noexcept`, called before the start: whether
///     it has completed at once. If not, nothing has happened.
///
/// An initiation whose operations often need not wait may have `try_perform() noexcept` too, which
/// does it without an operation, if it can succeed at once. It returns a std::optional of what a
/// coroutine gets of it, or, if that is nothing, a bool. A coroutine tries that first. The
/// operation has `bool has_succeeded() const noexcept` then, and `take_awaited()`, for what a
/// coroutine gets.
template <class Initiation>
concept direct_initiation =
    requires(const Initiation& initiation, typename Initiation::operation_type& op) {
      { initiation.get_executor() } -> std::convertible_to<typename Initiation::executor_type>;
      { initiation.owner() } noexcept -> std::same_as<scheduler&>;
      { op.start() } noexcept -> std::same_as<bool>;
      { op.cancel(cancellation_type()) } noexcept;
      { op.retain() } noexcept;
    };

/// Answers a cancellation slot.
template <class Operation>
class operation_canceller {
 public:
  explicit operation_canceller(Operation* op) noexcept : op_(op) {}
  void operator()(cancellation_type type) const noexcept { op_->cancel(type); }

 private:
  Operation* op_;
};

/// Whether an operation that is about to start has completed already.
template <class Operation>
bool completes_at_once(Operation& op) noexcept {
  if constexpr (requires { op.try_complete(); })
    return op.try_complete();
  else
    return false;
}

/// Called when a start has returned false.
template <class Operation>
void conclude_start(Operation& op) noexcept {
  if constexpr (requires { op.conclude(); })
    op.conclude();
}

/// Has a handler wait: what the initiation's own `operator()` does. Throws what the allocation, or
/// moving the handler, throws; nothing is started then.
template <direct_initiation Initiation, class H>
void initiate_directly(Initiation&& initiation, H&& handler) {
  using base = typename Initiation::operation_type;
  using executor = typename Initiation::executor_type;
  using op_type = handler_operation<base, std::decay_t<H>, executor>;

  std::decay_t<H> target(std::forward<H>(handler));
  const executor io_executor(initiation.get_executor());
  scheduler* const native = native_scheduler(get_associated_executor(target, io_executor));
  scheduler& owner = native ? *native : initiation.owner();
  auto memory = op_type::create(target, io_executor, owner, std::forward<Initiation>(initiation));
  op_type* const op = memory.get();
  constexpr bool is_immediate = has_immediate_executor<std::decay_t<H>, executor>;
  if constexpr (requires { op->retain_for_others(); })
    if (is_immediate || !native) [[unlikely]]
      op->retain_for_others();
  bool is_pending;
  if (op->is_cancellable()) {
    const slot_lock lock(get_associated_cancellation_slot(op->handler()));
    op->retain();
    op->template connect<operation_canceller<base>>(op);
    is_pending = memory.release()->start();
  } else {
    is_pending = memory.release()->start();
  }
  if (is_pending)
    return;
  conclude_start(static_cast<base&>(*op));
  if constexpr (is_immediate)
    op_type::complete_immediately(op, io_executor);
  else
    scheduler_post(owner, op);
}

}  // namespace WEFT_NAMESPACE::detail
