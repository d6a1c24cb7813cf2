// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/deferred.hpp>
#include <weft/base/error.hpp>
#include <weft/base/error_code.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/yield_context.hpp>
#include <weft/execution/any_io_executor.hpp>

#include "support/error_code.hpp"
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

/// The error that an operation reports: its first result, an error_code or an exception; of several
/// operations the first error, or that of the one that completed first if the results tell. What
/// gives nothing has been aborted.
template <class... Results>
weft::error_code error_of(weft::error_code ec, const Results&...) {
  return ec;
}
template <class... Results>
weft::error_code error_of(const std::exception_ptr& error, const Results&...) {
  return code_of(error);
}
template <class T>
weft::error_code error_of(const std::optional<T>& next) {
  return next ? weft::error_code() : weft::error::operation_aborted;
}
template <class... Outcomes>
weft::error_code error_of(const std::tuple<Outcomes...>& outcomes) {
  weft::error_code first;
  const auto look = [&](const auto& outcome) {
    if (!first)
      first = error_of(outcome.error());
  };
  std::apply([&](const auto&... each) { (look(each), ...); }, outcomes);
  return first;
}
template <class... Outcomes>
weft::error_code error_of(std::size_t first, const std::tuple<Outcomes...>& outcomes) {
  return std::apply(
      [&](const auto&... each) { return error_of(std::array{each.error()...}.at(first)); },
      outcomes);
}
template <class... Outcomes>
weft::error_code error_of(const std::vector<std::size_t>& order,
                          const std::tuple<Outcomes...>& outcomes) {
  return error_of(order.at(0), outcomes);
}

/// A handler of any operation. It can only be moved, and tells its report what became of it; its
/// memory is counted. It may have another handler go on from it.
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
  void operator()(Results&&... results) {
    report& r = *std::exchange(report_, nullptr);
    const weft::error_code ec = take(std::forward<Results>(results)...);
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
  /// Ends the results, which may own what the test ends as soon as it hears of them.
  template <class... Results>
  static weft::error_code take(Results... results) {
    return error_of(results...);
  }

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
  /// Has what is pending, or started next, fail. Returns what it reports.
  virtual weft::error_code fail() { return {}; }
  /// Has nothing taken any more that no operation waits for.
  virtual void cease() {}
};

/// Has a coroutine, or a fiber, wait for an operation by itself, as programs do. What it returns or
/// throws is what the operation reports.
class direct_wait {
 public:
  virtual ~direct_wait() = default;
  virtual weft::awaitable<weft::error_code> wait() = 0;
  virtual weft::error_code wait(weft::yield_context yield) = 0;
};

template <class Deferred>
inline constexpr bool needs_no_handler = false;
template <class Signature, class Initiation>
inline constexpr bool needs_no_handler<weft::deferred_async_operation<Signature, Initiation>> =
    weft::detail::direct_initiation<Initiation>;

/// A `Case` whose operation needs no handler: its `perform(token)` starts it.
template <class Case>
class direct_case final : public Case, public direct_wait {
  using deferred = decltype(std::declval<Case&>().perform(weft::deferred));
  static_assert(needs_no_handler<deferred>, "a case of other operations has a `start`");

 public:
  using Case::Case;

  void start(probe p) override { this->perform(std::move(p)); }

  weft::awaitable<weft::error_code> wait() override {
    if constexpr (gives_nothing) {
      co_await this->perform(weft::deferred);
      co_return weft::error_code();
    } else {
      co_return error_in(co_await this->perform(weft::deferred));
    }
  }
  weft::error_code wait(weft::yield_context yield) override {
    if constexpr (gives_nothing) {
      this->perform(yield);
      return {};
    } else {
      return error_in(this->perform(yield));
    }
  }

 private:
  static constexpr bool gives_nothing =
      std::is_void_v<decltype(std::declval<Case&>().perform(std::declval<weft::yield_context&>()))>;

  // Another error would have been thrown.
  template <class Result>
  static weft::error_code error_in(const Result&) {
    return {};
  }
  template <class T>
  static weft::error_code error_in(const std::optional<T>& next) {
    return error_of(next);
  }
};

/// How an operation of a case reports an error, other than for a cancellation.
enum class failure {
  none,      ///< It has no error, or the case none that it could have on purpose.
  by_close,  ///< The object has a `close`, after which a start reports bad_descriptor.
  by_fail,   ///< The case has a `fail`.
};

/// Where the memory of an operation comes from.
enum class memory_source {
  handler,  ///< The handler's allocator.
  own,      ///< The operation has memory of its own: a fiber's stack, or what outlives the handler.
};

/// Makes the cases of a family.
struct case_maker {
  std::unique_ptr<operation_case> (*function)(weft::io_context&);
  bool is_direct;  ///< They are each a direct_wait.

  std::unique_ptr<operation_case> operator()(weft::io_context& context) const {
    return function(context);
  }
};

/// A kind of operation. One that does not pend completes by itself.
struct operation_family {
  std::string name;
  bool pends;        ///< It waits for `satisfy`, or for a cancellation.
  bool satisfiable;  ///< `satisfy` lets it succeed.
  bool cancels;      ///< The object has a `cancel`.
  failure fails;
  case_maker make;
  memory_source memory = memory_source::handler;
  weft::error_code aborted = weft::error::operation_aborted;  ///< What a cancelled one reports.

  bool closes() const noexcept { return fails == failure::by_close; }
};

/// Makes a `Case`, or the direct_case of one without a `start`.
template <class Case>
inline constexpr case_maker make = {
    [](weft::io_context& context) -> std::unique_ptr<operation_case> {
      using type = std::conditional_t<std::is_abstract_v<Case>, direct_case<Case>, Case>;
      return std::make_unique<type>(context);
    },
    std::is_abstract_v<Case>};

/// Every kind of operation.
std::span<const operation_family> operation_families();
/// Those among them that wait for objects which are memory of the program.
std::span<const operation_family> sync_operation_families();
/// Those that send and receive in it.
std::span<const operation_family> channel_operation_families();
/// And those that wait for the end of what the program does: fibers, tasks, calls.
std::span<const operation_family> coro_operation_families();

}  // namespace weft_test
