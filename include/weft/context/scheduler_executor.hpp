// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <weft/base/function_operation.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/execution/any_executor_target.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {
class io_context;
class thread_pool;
}  // namespace WEFT_NAMESPACE

namespace WEFT_NAMESPACE::detail {

/// The properties of a scheduler_executor that are part of its type.
enum executor_bits : unsigned {
  blocking_never = 1,
  relationship_continuation = 2,
  outstanding_work_tracked = 4,
  blocking_always = 8,
};

/// Whether a context has threads of its own, so that one may wait for it: blocking.always.
template <class Context>
inline constexpr bool has_own_threads = false;

/// The executor of a context that has a scheduler: io_context, thread_pool. It is one pointer (and
/// an allocator, if that has state), trivially small for any_io_executor, and both a property
/// executor (`execute`, `query`, `require`, `prefer`) and a Networking TS executor (`dispatch`,
/// `post`, `defer`, `on_work_started`, `on_work_finished`).
///
/// `Context` names its scheduler by `detail::scheduler_access::get(context)`.
/// A copy may be used from any thread while its context lives.
template <class Context, class Allocator, unsigned Bits>
class WEFT_API scheduler_executor {
  template <class A, unsigned B>
  using rebind = scheduler_executor<Context, A, B>;
  static constexpr bool tracked = (Bits & outstanding_work_tracked) != 0;

 public:
  scheduler_executor(const scheduler_executor& other) noexcept
      : context_(other.context_), allocator_(other.allocator_) {
    start_work();
  }
  scheduler_executor(scheduler_executor&& other) noexcept
      : context_(other.context_), allocator_(std::move(other.allocator_)) {
    if constexpr (tracked)
      other.context_ = nullptr;
  }
  scheduler_executor& operator=(const scheduler_executor& other) noexcept {
    scheduler_executor(other).swap(*this);
    return *this;
  }
  scheduler_executor& operator=(scheduler_executor&& other) noexcept {
    scheduler_executor(std::move(other)).swap(*this);
    return *this;
  }
  ~scheduler_executor() {
    if constexpr (tracked)
      if (context_)
        scheduler_work_finished(native_scheduler());
  }

  void swap(scheduler_executor& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(allocator_, other.allocator_);
  }

  /// Whether the calling thread is in `run()` of the executor's context.
  bool running_in_this_thread() const noexcept {
    return scheduler_running_in_this_thread(native_scheduler());
  }

  /// The scheduler that runs what is submitted here.
  scheduler& native_scheduler() const noexcept { return Context::scheduler_of(*context_); }

  // ---- properties

  constexpr rebind<Allocator, Bits & ~(blocking_never | blocking_always)> require(
      execution::blocking_t::possibly_t) const {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, (Bits & ~blocking_always) | blocking_never> require(
      execution::blocking_t::never_t) const {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, (Bits & ~blocking_never) | blocking_always> require(
      execution::blocking_t::always_t) const
    requires has_own_threads<Context>
  {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, Bits & ~relationship_continuation> require(
      execution::relationship_t::fork_t) const {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, Bits | relationship_continuation> require(
      execution::relationship_t::continuation_t) const {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, Bits | outstanding_work_tracked> require(
      execution::outstanding_work_t::tracked_t) const {
    return {context_, allocator_};
  }
  constexpr rebind<Allocator, Bits & ~outstanding_work_tracked> require(
      execution::outstanding_work_t::untracked_t) const {
    return {context_, allocator_};
  }
  template <class OtherAllocator>
  constexpr rebind<OtherAllocator, Bits> require(
      execution::allocator_t<OtherAllocator> property) const {
    return {context_, property.value()};
  }
  constexpr rebind<std::allocator<void>, Bits> require(execution::allocator_t<void>) const {
    return {context_, std::allocator<void>()};
  }

  static constexpr execution::mapping_t query(execution::mapping_t) noexcept {
    return execution::mapping.thread;
  }
  Context& query(execution::context_t) const noexcept { return *context_; }
  static constexpr execution::blocking_t query(execution::blocking_t) noexcept {
    return (Bits & blocking_never)    ? execution::blocking_t(execution::blocking.never)
           : (Bits & blocking_always) ? execution::blocking_t(execution::blocking.always)
                                      : execution::blocking_t(execution::blocking.possibly);
  }
  static constexpr execution::relationship_t query(execution::relationship_t) noexcept {
    return (Bits & relationship_continuation)
               ? execution::relationship_t(execution::relationship.continuation)
               : execution::relationship_t(execution::relationship.fork);
  }
  static constexpr execution::outstanding_work_t query(execution::outstanding_work_t) noexcept {
    return tracked ? execution::outstanding_work_t(execution::outstanding_work.tracked)
                   : execution::outstanding_work_t(execution::outstanding_work.untracked);
  }
  /// How many threads the context has of its own.
  std::size_t query(execution::occupancy_t) const noexcept
    requires has_own_threads<Context>
  {
    return Context::occupancy_of(*context_);
  }
  template <class OtherAllocator>
  constexpr Allocator query(execution::allocator_t<OtherAllocator>) const noexcept {
    return allocator_;
  }
  constexpr Allocator query(execution::allocator_t<void>) const noexcept { return allocator_; }

  /// Runs `f()`: at once, if blocking is allowed and the calling thread is in `run()` of the
  /// context; otherwise as soon as a thread of the context is free, for which blocking.always
  /// waits. Throws what the allocation throws, or, run at once, what `f` throws.
  template <class Function>
  void execute(Function&& f) const {
    if constexpr ((Bits & blocking_never) == 0) {
      if (running_in_this_thread()) {
        std::decay_t<Function> function(std::forward<Function>(f));
        std::move(function)();
        return;
      }
    }
    if constexpr ((Bits & blocking_always) != 0) {
      std::decay_t<Function> function(std::forward<Function>(f));
      scheduler_run_and_wait(native_scheduler(), function_view::of(function));
    } else if constexpr ((Bits & relationship_continuation) != 0) {
      defer(std::forward<Function>(f), allocator_);
    } else {
      post(std::forward<Function>(f), allocator_);
    }
  }

  // ---- Networking TS members

  Context& context() const noexcept { return *context_; }
  void on_work_started() const noexcept { scheduler_work_started(native_scheduler()); }
  void on_work_finished() const noexcept { scheduler_work_finished(native_scheduler()); }

  template <class Function, class OtherAllocator>
  void dispatch(Function&& f, const OtherAllocator& allocator) const {
    require(execution::blocking.possibly)
        .require(execution::allocator(allocator))
        .execute(std::forward<Function>(f));
  }
  template <class Function, class OtherAllocator>
  void post(Function&& f, const OtherAllocator& allocator) const {
    scheduler_post(native_scheduler(),
                   make_function_operation(std::forward<Function>(f), allocator));
  }
  template <class Function, class OtherAllocator>
  void defer(Function&& f, const OtherAllocator& allocator) const {
    scheduler_defer(native_scheduler(),
                    make_function_operation(std::forward<Function>(f), allocator));
  }

  friend bool operator==(const scheduler_executor& a, const scheduler_executor& b) noexcept {
    return a.context_ == b.context_ && a.allocator_ == b.allocator_;
  }

 private:
  template <class, class, unsigned>
  friend class scheduler_executor;
  friend Context;

  constexpr scheduler_executor(Context* context, const Allocator& allocator) noexcept
      : context_(context), allocator_(allocator) {
    start_work();
  }

  constexpr void start_work() noexcept {
    if constexpr (tracked)
      if (context_)
        scheduler_work_started(native_scheduler());
  }

  Context* context_;
  [[no_unique_address]] Allocator allocator_;
};

// It counts no copies.
template <class Context, class Allocator, unsigned Bits>
  requires((Bits & outstanding_work_tracked) == 0)
inline constexpr bool is_mere_bytes<scheduler_executor<Context, Allocator, Bits>> =
    std::is_trivially_copyable_v<Allocator> || std::is_empty_v<Allocator>;

template <class Context, class Allocator, unsigned Bits>
inline constexpr bool submits_directly<scheduler_executor<Context, Allocator, Bits>> = true;

using any_io_operations = operations_of_t<any_io_executor::base_type>;

/// What an any_io_executor, of which nearly every program makes some, does with the executors of
/// `Context` that have fewer bits than `count`. It is compiled in the library.
template <class Context>
struct compiled_executors {
  static constexpr unsigned count = blocking_always;
  WEFT_API static const any_io_operations operations[count];
};
extern template struct compiled_executors<io_context>;
extern template struct compiled_executors<thread_pool>;

template <class Context, unsigned Bits>
inline constexpr bool is_compiled_target<any_io_executor::base_type,
                                         scheduler_executor<Context, std::allocator<void>, Bits>> =
    Bits < compiled_executors<Context>::count;
template <class Context, unsigned Bits>
  requires(Bits < compiled_executors<Context>::count)
inline constexpr const any_io_operations&
    operations_for<any_io_operations, scheduler_executor<Context, std::allocator<void>, Bits>> =
        compiled_executors<Context>::operations[Bits];

}  // namespace WEFT_NAMESPACE::detail
