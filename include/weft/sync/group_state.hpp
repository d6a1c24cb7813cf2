// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/cancellation_type.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/base/owned_pointer.hpp>
#include <weft/base/reference_count.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>

// What waits for several operations at a time.
namespace WEFT_NAMESPACE::detail {

/// The part of a group that does not depend on its operations.
///
///   1. Each operation has a handler that owns a reference, and a signal to cancel it by.
///   2. A request to cancel while the operations are being started is remembered; once all are, it
///      is emitted to all. One bit of the same word says whether they are: so of a request and the
///      end of the start, one sees the other.
///   3. The last operation that completes ends the group, in its own handler; unless all have
///      completed before the last of them was started: then the start, which counts as one more
///      operation, posts the end.
///   4. If results cannot be kept, because moving them throws, the other operations are cancelled,
///      and what was thrown first is thrown in the place of the handler's call. So is what a
///      cancellation handler throws when a remembered request is emitted.
class WEFT_API group_base {
 public:
  group_base(const group_base&) = delete;
  group_base& operator=(const group_base&) = delete;

  void add_reference() noexcept { references_.add(); }
  void drop_reference() noexcept {
    if (references_.drop())
      destroy_(this);
  }

  /// Cancels what has not completed. Throws what a cancellation handler throws.
  void request(cancellation_type type);

  cancellation_slot slot(std::size_t index) noexcept { return signals_[index].slot(); }

 protected:
  using destroy_function = void (*)(group_base*) noexcept;

  explicit group_base(destroy_function destroy) noexcept;
  ~group_base() = default;

  /// Before anything is started.
  void set_members(cancellation_signal* signals, std::size_t* order, std::size_t size) noexcept;

  /// The results of an operation are lost, by the exception that is being handled.
  void fail() noexcept;
  /// At the end of the group: throws what the first that was lost was lost by.
  void rethrow_failure() const;

  /// The results of an operation are stored, or lost. Returns how many were before.
  std::size_t arrive(std::size_t index) noexcept;
  /// Whether all operations have completed, and are all started.
  bool leave() noexcept;
  /// All operations are started. Whether the end is to be posted.
  bool end_start() noexcept;
  /// One could not be started. Cancels those that were.
  void abandon_start() noexcept;

 private:
  static constexpr std::uint64_t started = std::uint64_t(1) << 32;

  void emit(cancellation_type type);

  reference_count references_;
  const destroy_function destroy_;
  cancellation_signal* signals_ = nullptr;
  std::size_t* order_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::size_t> arrived_{0};
  // Operations that have not completed, and the start. Each decrement releases results and place;
  // the last one acquires them all.
  std::atomic<std::size_t> remaining_{0};
  std::atomic<std::uint64_t> requested_{0};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;  // written by who sets has_failed_, before it leaves
};

struct drop_group_reference {
  void operator()(group_base* group) const noexcept { group->drop_reference(); }
};

/// Cancels a group through the slot of its handler.
class group_canceller {
 public:
  explicit group_canceller(group_base* group) noexcept : group_(group) {}
  void operator()(cancellation_type type) const {
    group_->add_reference();
    const owned_pointer<group_base, drop_group_reference> kept(group_);
    group_->request(type);
  }

 private:
  group_base* group_;
};

// ---- what a group is made of

/// What an operation of a group, `Op`, stands for: itself, or what `as_async_operation(op)`
/// returns, found by argument-dependent lookup: a function that lets other types join (awaitables
/// and tasks do).
template <class Op>
struct group_operation_of : std::decay<Op> {};
template <class Op>
  requires requires(Op&& op) { as_async_operation(std::forward<Op>(op)); }
struct group_operation_of<Op> {
  using type = decltype(as_async_operation(std::declval<Op>()));
};
template <class Op>
using group_operation_t = typename group_operation_of<Op>::type;

template <class Op>
group_operation_t<Op> group_operation(Op&& op) {
  if constexpr (requires { as_async_operation(std::forward<Op>(op)); })
    return as_async_operation(std::forward<Op>(op));
  else
    return std::forward<Op>(op);
}

template <class Op>
concept groupable = async_operation_call<group_operation_t<Op>>;

/// A range of operations.
template <class R>
concept operation_range = requires(R& r) {
  std::begin(r) != std::end(r);
  requires groupable<std::remove_reference_t<decltype(*std::begin(r))>>;
} && !groupable<R>;

template <class Range>
using range_operation_t = group_operation_t<std::conditional_t<
    std::is_lvalue_reference_v<Range>, decltype(*std::begin(std::declval<Range&>())),
    std::remove_reference_t<decltype(*std::begin(std::declval<Range&>()))>>>;

/// The operations of a range: copied from an lvalue, moved from an rvalue.
template <class Range>
auto range_operations(Range&& range) {
  std::vector<range_operation_t<Range>> ops;
  for (auto&& op : range) {
    if constexpr (std::is_lvalue_reference_v<Range>)
      ops.push_back(group_operation(op));
    else
      ops.push_back(group_operation(std::move(op)));
  }
  return ops;
}

template <class Parameters>
struct kept_results;
template <class... Args>
struct kept_results<signature_parameters<Args...>> {
  using type = std::tuple<std::decay_t<Args>...>;
};
/// The results of an operation, as a tuple.
template <class Op>
using kept_results_t = typename kept_results<
    typename plain_signature<completion_signature_of_t<Op>>::parameters>::type;

// What is kept of an operation that has completed is said by a policy, `Keep`:
//   - `of<Op>`: what is kept of the operation, and `range<Op, Allocator>`, made of a number and an
//     allocator, which has an `of<Op>` at each index; empty at first;
//   - `order<N>()`: room for N indices;
//   - `store<Op>(of<Op>&, results...)`;
//   - `judge(condition, place, of<Op>&)`: calls a group's condition.
// All memory that the group's handler is given is there before the first operation is started.

/// What a fixed number of operations has: a signal for each; and what is kept of each, with the
/// order in which they have completed.
template <class Keep, class... Ops>
struct tuple_members {
  using keep = Keep;
  using operations = std::tuple<Ops...>;
  using results_type = std::tuple<typename Keep::template of<Ops>...>;

  explicit tuple_members(const operations&) {}

  /// Calls `f(index, operation)` for each.
  template <class F>
  static void for_each([[maybe_unused]] operations& ops, [[maybe_unused]] F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::integral_constant<std::size_t, I>(), std::get<I>(ops)), ...);
    }(std::index_sequence_for<Ops...>());
  }
  template <std::size_t I>
  auto& at(std::integral_constant<std::size_t, I>) noexcept {
    return std::get<I>(results);
  }

  std::array<cancellation_signal, sizeof...(Ops)> signals;
  decltype(Keep::template order<sizeof...(Ops)>()) order = Keep::template order<sizeof...(Ops)>();
  results_type results;
};

/// What the operations of a vector have. The results come in vectors with this allocator.
template <class Keep, class Op, class Allocator>
struct range_members {
  using keep = Keep;
  using operations = std::vector<Op>;
  using results_type = typename Keep::template range<Op, Allocator>;

  range_members(const operations& ops, const Allocator& a)
      : signals(ops.size()), order(ops.size(), 0, a), results(ops.size(), a) {}

  template <class F>
  static void for_each(operations& ops, F f) {
    for (std::size_t i = 0; i != ops.size(); ++i)
      f(i, ops[i]);
  }
  auto& at(std::size_t index) noexcept { return results[index]; }

  std::vector<cancellation_signal> signals;
  std::vector<std::size_t,
              typename std::allocator_traits<Allocator>::template rebind_alloc<std::size_t>>
      order;
  results_type results;
};

/// The associated executor of a group's handler, for its operations' handlers, which have none if
/// that has none: then each has its own operation's.
template <class Handler>
class group_executor {
 public:
  using executor_type = associated_executor_t<Handler>;
  explicit group_executor(const Handler& handler) : executor_(get_associated_executor(handler)) {}
  executor_type get_executor() const noexcept { return executor_; }

 private:
  [[no_unique_address]] executor_type executor_;
};
template <class Handler>
  requires executor_unassociated<Handler, inline_executor>
class group_executor<Handler> {
 public:
  explicit group_executor(const Handler&) noexcept {}
};

template <class State, class Handler, class Op, class Index>
class group_handler : public group_executor<Handler> {
 public:
  using cancellation_slot_type = cancellation_slot;

  group_handler(State& state, const Handler& handler, Index index)
      : group_executor<Handler>(handler), state_(&state), index_(index) {
    state.add_reference();
  }

  cancellation_slot_type get_cancellation_slot() const noexcept { return state_->slot(index_); }

  template <class... Args>
  void operator()(Args&&... args) {
    const auto kept = std::move(state_);
    kept->template complete<Op>(index_, std::forward<Args>(args)...);
  }

 private:
  owned_pointer<State, drop_group_reference> state_;
  [[no_unique_address]] Index index_;
};

/// A group under way. `Condition` says, after each operation, what cancellation the others are to
/// have: `cancellation_type(place, what is kept)`, where place 0 is the first to complete. What it
/// throws cancels nothing, and leaves the operation's handler; the group goes on.
/// `Finish::call(handler, members)` calls the handler.
template <class Members, class Condition, class Finish, class Handler>
class group_state final : public group_base {
  using slot_type = associated_cancellation_slot_t<Handler>;

  using memory = operation_owner<group_state, std::allocator<void>>;

 public:
  template <class H, class... Args>
  group_state(Condition&& condition, H&& handler, Args&&... args)
      : group_base(&destroy),
        members_(std::forward<Args>(args)...),
        condition_(std::move(condition)),
        handler_(std::forward<H>(handler)) {
    set_members(members_.signals.data(), members_.order.data(), members_.signals.size());
  }
  ~group_state() { disconnect(); }

  /// Starts the operations. If one cannot be started, those that are under way are cancelled, and
  /// the handler is lost.
  template <class H, class... Args>
  static void start(typename Members::operations& ops, Condition&& condition, H&& handler,
                    Args&&... args) {
    const owned_pointer<group_state, drop_group_reference> self(
        memory(std::in_place, {}, std::move(condition), std::forward<H>(handler), ops,
               std::forward<Args>(args)...)
            .release());
    self->start_all(ops);
  }

  template <class Op, class Index, class... Args>
  void complete(Index index, Args&&... args) {
    using keep = typename Members::keep;
    auto& kept = members_.at(index);
    bool is_kept = true;
    try {
      keep::template store<Op>(kept, std::forward<Args>(args)...);
    } catch (...) {
      fail();
      is_kept = false;
    }
    const std::size_t place = arrive(index);
    std::exception_ptr error;
    try {
      const cancellation_type type =
          is_kept ? keep::judge(condition_, place, kept) : cancellation_type::all;
      if (type != cancellation_type::none)
        request(type);
    } catch (...) {
      error = std::current_exception();
    }
    if (leave())
      finish();
    if (error)
      std::rethrow_exception(std::move(error));
  }

 private:
  static void destroy(group_base* base) noexcept {
    memory(static_cast<group_state*>(base), {}).reset();
  }

  void disconnect() noexcept {
    if (slot_.is_connected())
      std::exchange(slot_, slot_type()).clear();
  }

  void start_all(typename Members::operations& ops) {
    slot_ = get_associated_cancellation_slot(handler_);
    if (slot_.is_connected())
      slot_.template emplace<group_canceller>(this);
    try {
      Members::for_each(ops, [this](auto index, auto& op) {
        using handler = group_handler<group_state, Handler, std::remove_reference_t<decltype(op)>,
                                      decltype(index)>;
        std::move(op)(handler(*this, handler_, index));
      });
    } catch (...) {
      abandon_start();
      disconnect();
      [[maybe_unused]] const Handler lost(
          std::move(handler_));  // inside the initiating function, which throws
      throw;
    }
    if (end_start())
      post();
  }

  void finish() {
    disconnect();
    Handler handler(std::move(handler_));
    rethrow_failure();
    Finish::call(std::move(handler), members_);
  }

  /// Nothing has called the handler's executor yet.
  void post() {
    add_reference();
    auto end = [self = owned_pointer<group_state, drop_group_reference>(this)]() mutable {
      const auto kept = std::move(self);
      kept->finish();
    };
    if constexpr (executor_unassociated<Handler, inline_executor>)
      executor_post(system_executor(), std::move(end), std::allocator<void>());
    else
      executor_post(get_associated_executor(handler_), std::move(end), std::allocator<void>());
  }

  Members members_;
  Condition condition_;
  slot_type slot_{};
  Handler handler_;
};

/// Starts a group.
template <class Members, class Finish>
struct initiate_group {
  template <class Handler, class Condition, class... Args>
  void operator()(Handler&& handler, Condition condition, typename Members::operations ops,
                  Args... args) const {
    using state = group_state<Members, Condition, Finish, std::decay_t<Handler>>;
    state::start(ops, std::move(condition), std::forward<Handler>(handler), std::move(args)...);
  }
};

}  // namespace WEFT_NAMESPACE::detail
