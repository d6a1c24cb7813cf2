// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error_code.hpp>
#include <weft/context/io_context.hpp>
#include <weft/execution/any_io_executor.hpp>

#include "unit/support/counting_allocator.hpp"

namespace weft_test {

/// What became of one operation.
struct report {
  std::atomic<int> calls{0};
  std::atomic<int> abandoned{0};  // handlers destroyed without a call
  weft::error_code ec;
  std::size_t blocks_at_call = 0;  // of the operation's memory, not yet returned
  allocation_counts memory;
  std::function<void()> then;  // what the handler does

  int endings() const { return calls + abandoned; }
};

/// A handler of any operation whose first result is an error_code. It can only be moved, and tells
/// its report what became of it; its memory is counted. It may have another handler go on from it.
class probe {
 public:
  using allocator_type = counting_allocator<std::byte>;
  using executor_type = weft::any_io_executor;
  using cancellation_slot_type = weft::cancellation_slot;

  probe(report& r, weft::any_io_executor executor, weft::cancellation_slot slot = {},
        std::shared_ptr<void> owned = {})
      : report_(&r), executor_(std::move(executor)), slot_(slot), owned_(std::move(owned)) {}
  probe(report& r, weft::any_io_executor executor, weft::cancellation_slot slot,
        weft::any_completion_handler<void(weft::error_code)> next)
      : report_(&r), executor_(std::move(executor)), slot_(slot), next_(std::move(next)) {}
  probe(probe&& other) noexcept
      : report_(std::exchange(other.report_, nullptr)),
        executor_(other.executor_),
        slot_(other.slot_),
        owned_(std::move(other.owned_)),
        next_(std::move(other.next_)) {}
  probe& operator=(probe&&) = delete;
  ~probe() {
    if (report_)
      ++report_->abandoned;
  }

  allocator_type get_allocator() const noexcept { return allocator_type(report_->memory); }
  executor_type get_executor() const noexcept { return executor_; }
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

  template <class... Results>
  void operator()(weft::error_code ec, Results&&...) {
    report& r = *std::exchange(report_, nullptr);
    r.ec = ec;
    r.blocks_at_call = r.memory.blocks;
    const auto then = r.then;
    ++r.calls;
    if (then)
      then();
    if (next_)
      std::move(next_)(ec);
  }

 private:
  report* report_;
  weft::any_io_executor executor_;
  weft::cancellation_slot slot_;
  std::shared_ptr<void> owned_;
  weft::any_completion_handler<void(weft::error_code)> next_;
};

/// One I/O object, with one kind of operation on it that can be started again and again, one at a
/// time.
class operation_case {
 public:
  virtual ~operation_case() = default;
  virtual void start(probe p) = 0;
  /// Lets what is pending succeed.
  virtual void satisfy() {}
  virtual void cancel() {}
  virtual void close() {}
  /// Has nothing taken any more that no operation waits for.
  virtual void cease() {}
};

/// A kind of operation. One that does not pend completes by itself.
struct operation_family {
  std::string name;
  bool pends;        ///< It waits for `satisfy`, or for a cancellation.
  bool satisfiable;  ///< `satisfy` lets it succeed.
  bool cancels;      ///< The object has a `cancel`.
  bool closes;       ///< The object has a `close`, after which a start reports bad_descriptor.
  std::unique_ptr<operation_case> (*make)(weft::io_context&);
};

/// Makes the case of a family.
template <class Case>
std::unique_ptr<operation_case> make(weft::io_context& context) {
  return std::make_unique<Case>(context);
}

/// Every kind of operation.
std::span<const operation_family> operation_families();
/// Those among them that wait for objects which are memory of the program.
std::span<const operation_family> sync_operation_families();

}  // namespace weft_test
