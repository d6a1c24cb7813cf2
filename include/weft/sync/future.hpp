// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <chrono>
#include <concepts>
#include <exception>
#include <future>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/async_initiate.hpp>
#include <weft/async/deferred.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/executor.hpp>
#include <weft/sync/future_state.hpp>
#include <weft/sync/future_wait.hpp>

namespace WEFT_NAMESPACE {

template <class T>
class future;
template <class T>
class shared_future;
template <class T>
class promise;

namespace detail {

struct future_access {
  template <class T>
  static future<T> make(future_reference<future_state<T>> state) noexcept {
    return future<T>(std::move(state));
  }
  template <class T>
  static promise<T> make_promise(future_producer&& producer) {
    return promise<T>(std::move(producer));
  }
  template <class Future>
  static auto& state(Future& f) noexcept {
    return f.state_;
  }
};

/// Where what waits for a future, or produces it, may run: an executor, or a context that has one.
template <class P>
concept executor_or_context =
    any_style_executor<std::decay_t<P>> || execution_context_type<std::remove_reference_t<P>>;

template <executor_or_context Place>
decltype(auto) executor_at(Place& place) noexcept {
  if constexpr (execution_context_type<Place>)
    return place.get_executor();
  else
    return (place);
}

/// What every kind of future has.
template <class T>
class basic_future {
 public:
  using value_type = T;

  /// Whether it refers to a result that is there, or may come.
  bool valid() const noexcept { return static_cast<bool>(state_); }
  /// Whether the result, or the exception, is there: `get` returns at once.
  bool is_ready() const { return state().is_ready(); }

  /// Block the calling thread until the result is there. In a thread of the loop that is to produce
  /// it they throw system_error (error::would_deadlock) instead. The loop is known of what `async`,
  /// `then` and `as_future` make. If it is not, as of a promise, they throw in the last thread of
  /// any loop whose other threads all block so.
  void wait() const { state().wait(); }
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& timeout) const {
    return wait_until(std::chrono::steady_clock::now() + timeout);
  }
  template <class Clock, class Duration>
  std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& deadline) const {
    using steady = std::chrono::steady_clock;
    steady::time_point end;
    if constexpr (std::is_same_v<Clock, steady>)
      end = std::chrono::ceil<steady::duration>(deadline);
    else
      end = steady::now() + std::chrono::ceil<steady::duration>(deadline - Clock::now());
    return state().wait_until(end) ? std::future_status::ready : std::future_status::timeout;
  }

  /// Waits until the result is there, which the future keeps.
  /// Completion signature: `void(error_code)`: operation_aborted after a cancellation, or
  /// future_errc::future_already_retrieved if something waits for this future already (one at a
  /// time may; for a shared_future any number).
  /// Cancellation: all types; the result is not touched. A handler without an executor of its own
  /// is called in the producer's (see promise). Memory: as for any operation; a coroutine needs
  /// none. O(1).
  template <completion_token_for<void(error_code)> Token = deferred_t>
  auto async_wait(Token&& token = Token()) const {
    state();
    return async_initiate<Token, void(error_code)>(
        initiate_future_wait<future_ready_wait, any_io_executor>(base_reference(),
                                                                 state_->producer().executor),
        token);
  }

  /// Asks the producer to give up: see promise::is_cancelled. A function of `async` or `then` that
  /// has not begun is not called; the result is system_error (operation_aborted) then. What has
  /// begun goes on, and what it makes of the request is its own. Any thread.
  void request_cancel() const { state().request_cancel(); }

 protected:
  using state_type = future_state<T>;

  basic_future() noexcept = default;
  explicit basic_future(future_reference<state_type> state) noexcept : state_(std::move(state)) {}
  basic_future(basic_future&&) noexcept = default;
  basic_future& operator=(basic_future&&) noexcept = default;
  ~basic_future() = default;

  state_type& state() const {
    if (!state_) [[unlikely]]
      throw_future_error(std::future_errc::no_state);
    return *state_;
  }
  future_reference<future_state_base> base_reference() const noexcept {
    state_->add_reference();
    return future_reference<future_state_base>(state_.get());
  }

  future_reference<state_type> state_;
};

/// Calls a function with the future that it has waited for. The memory is that of the function's
/// associated allocator.
template <class Future, class Function>
class future_callback {
 public:
  using allocator_type = associated_allocator_t<Function>;

  template <class F>
  future_callback(Future&& f, F&& function)
      : function_(std::forward<F>(function)), future_(std::move(f)) {}

  allocator_type get_allocator() const noexcept { return get_associated_allocator(function_); }
  void operator()(error_code) { std::move(function_)(std::move(future_)); }

  Future& future_kept() noexcept { return future_; }

 private:
  Function function_;  // before the future: what moving it throws leaves that where it is
  Future future_;
};

/// Attaches a callback; if that throws, `f` has its result still.
template <class Future, class Executor, class F>
void attach_future_callback(Future& f, const Executor& ex, F&& function) {
  using handler = future_callback<Future, std::decay_t<F>>;
  using op_type = handler_operation<future_callback_wait, handler, Executor>;
  if (!f.valid())
    throw_future_error(std::future_errc::no_state);
  future_state_base& state = *future_access::state(f);
  scheduler* const native = native_scheduler(ex);
  scheduler& owner = native ? *native : use_scheduler(executor_context(ex));
  handler target(std::move(f), std::forward<F>(function));
  op_type* op;
  try {
    op = op_type::create(target, ex, owner, state).release();
  } catch (...) {
    f = std::move(target.future_kept());
    throw;
  }
  if (op->start())
    return;
  if (op->is_taken()) {
    f = std::move(op->handler().future_kept());
    op->destroy();
    throw_future_error(std::future_errc::future_already_retrieved);
  }
  op_type::complete_immediately(op, Executor(ex));  // `ex` may be the future's
}

/// Asks for the cancellation of what another future waits for.
class future_canceller {
 public:
  explicit future_canceller(future_reference<future_state_base> state) noexcept
      : state_(std::move(state)) {}
  void operator()(cancellation_type) const { state_->request_cancel(); }

 private:
  future_reference<future_state_base> state_;
};

template <class T>
struct unwrapped_future {
  using type = T;
};
template <class T>
struct unwrapped_future<future<T>> {
  using type = T;
};

/// Where what `then` has called puts its result.
template <class T, class Executor>
class then_result;

}  // namespace detail

/// The result of something that has perhaps not ended yet: a value, or an exception. It comes from
/// `async`, from a promise, from `then`, or from an operation with the token `as_future`.
///
///     future<int> f = async(context, [] { return compute(); });
///     std::move(f).attach_callback([](future<int> ready) { use(ready.get()); });
///
/// Nothing of it blocks, but `get`, `wait`, `wait_for` and `wait_until`, for threads without a
/// loop. Others attach a callback, or wait in their style: `co_await f.async_get()`.
///
/// One at a time waits for it, in whatever way; `share` makes a future that many may wait for. A
/// future that is destroyed lets the producer go on. `T` is void, an object type that can be moved,
/// or an lvalue reference.
///
/// Thread safety: distinct objects; request_cancel and is_ready any thread. Memory: one block for
/// result and function, and one for each callback, recycled per thread. O(1) all.
template <class T>
class future : public detail::basic_future<T> {
  using base = detail::basic_future<T>;

 public:
  /// Refers to nothing.
  future() noexcept = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  /// The result, once: waits for it as `wait` does, and throws the exception if it is one.
  T get() {
    base::wait();
    const auto taken = std::move(this->state_);
    return std::move(taken->result).get();
  }

  /// Waits for the result and takes it. `co_await f.async_get()` returns the value, or throws.
  /// Completion signature: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` if T is
  /// void, or `void(std::exception_ptr, U*)` if T is U&; with an exception comes `T()`. What moving
  /// the value throws is the exception.
  /// Cancellation: all types, with system_error (operation_aborted); the result is lost then. To
  /// keep it, async_wait. The future refers to nothing afterwards. The rest as async_wait.
  template <completion_token_for<typename detail::future_argument<T>::signature> Token = deferred_t>
  auto async_get(Token&& token = Token()) {
    using namespace detail;
    this->state();
    const any_io_executor executor = this->state_->producer().executor;
    future_reference<future_state_base> taken(this->state_.release());
    return async_initiate<Token, typename future_argument<T>::signature>(
        initiate_future_wait<future_get_wait<T, false>, any_io_executor>(std::move(taken),
                                                                         executor),
        token);
  }

  /// A future is an asynchronous operation itself: `co_await std::move(f)`.
  template <completion_token_for<typename detail::future_argument<T>::signature> Token>
  auto operator()(Token&& token) && {
    return async_get(std::forward<Token>(token));
  }

  /// Has `function` called with this future, ready, in `ex`, or in the producer's executor; never
  /// inside this call. What it throws leaves that executor's `run()`. Throws what the allocation,
  /// or moving the function, throws; the future keeps its result then. If the executor's context is
  /// destroyed before, so is the function, un-called.
  template <detail::executor_or_context Place, class F>
    requires std::invocable<std::decay_t<F>, future>
  void attach_callback(Place&& place, F&& function) {
    detail::attach_future_callback(*this, detail::executor_at(place), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, future>
  void attach_callback(F&& function) {
    attach_callback(this->state().producer().executor, std::forward<F>(function));
  }

  /// The same, and gives a future of what `function` returns or throws; of what that future will
  /// have, if it returns one. A request to cancel that reaches it goes on to this one. If the
  /// function is destroyed un-called, the promise is broken.
  ///
  ///     future<std::string> name = async(pool, find).then(context, [](future<record> r) {
  ///       return r.get().name;
  ///     });
  template <detail::executor_or_context Place, class F>
    requires std::invocable<std::decay_t<F>, future>
  auto then(Place&& place, F&& function) {
    return then_in(detail::executor_at(place), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, future>
  auto then(F&& function) {
    return then(this->state().producer().executor, std::forward<F>(function));
  }

  /// A future that can be copied, for many to wait; this one refers to nothing afterwards. Throws
  /// std::bad_alloc.
  shared_future<T> share() {
    this->state().gather();
    return shared_future<T>(std::move(this->state_));
  }

 private:
  friend detail::future_access;

  explicit future(detail::future_reference<detail::future_state<T>> state) noexcept
      : base(std::move(state)) {}

  template <class Executor, class F>
  auto then_in(const Executor& ex, F&& function);
};

/// A future that can be copied: any number of handlers, callbacks, coroutines and threads wait for
/// one result, which stays where it is. Made by future::share. Thread safety: distinct objects,
/// which may be copies of each other.
template <class T>
class shared_future : public detail::basic_future<T> {
  using base = detail::basic_future<T>;

 public:
  shared_future() noexcept = default;
  shared_future(future<T>&& f) : shared_future(f.share()) {}
  shared_future(const shared_future& other) noexcept : base(detail::copy_reference(other.state_)) {}
  shared_future(shared_future&&) noexcept = default;
  shared_future& operator=(shared_future other) noexcept {
    this->state_ = std::move(other.state_);
    return *this;
  }

  /// The result: waits for it as `wait` does, and throws the exception if it is one. The reference
  /// is good as long as a copy of this is left.
  decltype(auto) get() const {
    base::wait();
    return std::as_const(this->state_->result).get();
  }

  /// As future::async_get, with a copy of the result; what copying it throws is the exception.
  template <completion_token_for<typename detail::future_argument<T>::signature> Token = deferred_t>
  auto async_get(Token&& token = Token()) const {
    using namespace detail;
    this->state();
    return async_initiate<Token, typename future_argument<T>::signature>(
        initiate_future_wait<future_get_wait<T, true>, any_io_executor>(
            this->base_reference(), this->state_->producer().executor),
        token);
  }
  template <completion_token_for<typename detail::future_argument<T>::signature> Token>
  auto operator()(Token&& token) const {
    return async_get(std::forward<Token>(token));
  }

  /// As future::attach_callback, with a copy of this.
  template <detail::executor_or_context Place, class F>
    requires std::invocable<std::decay_t<F>, shared_future>
  void attach_callback(Place&& place, F&& function) const {
    shared_future copy(*this);
    detail::attach_future_callback(copy, detail::executor_at(place), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, shared_future>
  void attach_callback(F&& function) const {
    attach_callback(this->state().producer().executor, std::forward<F>(function));
  }

 private:
  friend class future<T>;
  friend detail::future_access;

  explicit shared_future(detail::future_reference<detail::future_state<T>> state) noexcept
      : base(std::move(state)) {}
};

/// The producer's side of a future: gives it a value or an exception, once. A promise that is
/// destroyed before is broken: the future has std::future_error (broken_promise).
///
///     promise<int> p(context);
///     start_something([p = std::move(p)](int answer) mutable { p.set_value(answer); });
///
/// An executor given at its construction is where callbacks run that name none, and handlers that
/// have none; without one, it is the system executor. A promise is no work: a loop may end while it
/// is kept, unless something waits for its future there.
///
/// Thread safety: distinct objects. Nobody is called inside set_value.
template <class T>
class promise {
 public:
  /// Throws std::bad_alloc.
  promise() : promise(detail::future_producer()) {}
  template <detail::executor_or_context Place>
  explicit promise(Place&& place)
      : promise(detail::future_producer::at(detail::executor_at(place))) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  ~promise() {
    if (!state_)
      return;
    if (!state_->is_satisfied)
      fail(detail::make_future_error(std::future_errc::broken_promise));
    if (!state_->has_future)
      state_->drop_reference();
  }

  void swap(promise& other) noexcept {
    auto mine = std::move(state_);
    state_ = std::move(other.state_);
    other.state_ = std::move(mine);
  }

  /// Once. Throws std::future_error (future_already_retrieved, no_state).
  future<T> get_future() {
    if (std::exchange(check().has_future, true))
      detail::throw_future_error(std::future_errc::future_already_retrieved);
    return detail::future_access::make<T>(
        detail::future_reference<detail::future_state<T>>(state_.get()));
  }

  /// Makes the future ready, with a value made of `args` (none, if T is void). Throws
  /// std::future_error (promise_already_satisfied, no_state), or what the value's constructor
  /// throws: the promise may be satisfied by that exception then.
  template <class... Args>
  void set_value(Args&&... args) {
    check_unsatisfied();
    state_->result.set_value(std::forward<Args>(args)...);
    satisfy();
  }
  /// The same with an exception, which must not be null.
  void set_exception(std::exception_ptr error) {
    assert(error && "a promise is failed with an exception, not with null");
    check_unsatisfied();
    fail(std::move(error));
  }
  /// The same with what has come of something else, which must have ended.
  void set(outcome<T> result) {
    assert((result.has_value() || result.has_error()) &&
           "a promise is given the outcome of what has ended");
    check_unsatisfied();
    state_->result = std::move(result);
    satisfy();
  }

  /// Whether the future has asked to give up. Any thread.
  bool is_cancelled() const { return check().is_cancelled(); }
  /// For an operation that works for this promise: it is cancelled when the future asks to give up.
  cancellation_slot get_cancellation_slot() const { return check().slot(); }
  /// Has `f()` called when the future asks to give up, on the thread that does; at once, if it has.
  /// Once the promise is satisfied it is not called any more. It takes the place of what is in the
  /// cancellation slot. Throws std::bad_alloc.
  template <class F>
    requires std::invocable<std::decay_t<F>&>
  void on_cancel(F&& f) {
    cancellation_slot slot = check().slot();
    {
      const detail::slot_lock lock(slot);
      if (!is_cancelled()) {
        state_->answers = true;
        slot.assign([function = std::decay_t<F>(std::forward<F>(f))](cancellation_type) mutable {
          function();
        });
        return;
      }
    }
    std::decay_t<F> function(std::forward<F>(f));
    function();
  }

 private:
  template <class, class>
  friend class detail::then_result;
  friend detail::future_access;
  using state_type = detail::promise_state<T>;

  explicit promise(detail::future_producer&& producer)
      : state_(state_type::create(std::move(producer))) {}

  state_type& check() const {
    if (!state_)
      detail::throw_future_error(std::future_errc::no_state);
    return *state_;
  }
  void check_unsatisfied() const {
    if (check().is_satisfied)
      detail::throw_future_error(std::future_errc::promise_already_satisfied);
  }
  void fail(std::exception_ptr error) noexcept {
    state_->result.set_error(std::move(error));
    satisfy();
  }
  void satisfy() noexcept {
    state_->is_satisfied = true;
    if (state_->answers)
      state_->slot().clear();
    state_->fulfil();
  }

  detail::future_reference<state_type> state_;
};

namespace detail {

/// The function of an `async`, on its way through an executor, and its result, in one block. The
/// function is destroyed before anyone is told.
template <class T, class Call>
class async_operation final : public operation, public future_state<T> {
  using base = future_state_base;

 public:
  using memory = operation_owner<async_operation, std::allocator<void>>;

  async_operation(future_producer&& producer, Call&& call)
      : operation(&run), future_state<T>(&act, std::move(producer), 1), call_(std::move(call)) {}
  ~async_operation() {}

 private:
  static void act(base* state, typename base::action what) {
    if (what == base::action::cancel)
      return;  // the flag says it
    memory(static_cast<async_operation*>(state), {}).reset();
  }

  static void run(operation* op, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Call>(op);
    auto* const self = static_cast<async_operation*>(op);
    if (what == operation::action::destroy)
      self->result.set_error(make_future_error(std::future_errc::broken_promise));
    else if (self->is_cancelled())
      self->result.set_error(make_aborted());
    else
      self->call();
    std::destroy_at(&self->call_);
    self->fulfil();
  }

  void call() noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        std::move(call_)();
        this->result.set_value();
      } else {
        this->result.set_value(std::move(call_)());
      }
    } catch (...) {
      this->result.set_error(std::current_exception());
    }
  }

  union {
    Call call_;
  };
};

/// Where what `then` has called puts its result.
template <class T, class Executor>
class then_result {
 public:
  then_result(const Executor& ex, future_reference<future_state_base> source)
      : executor_(ex), promise_(make_future_producer(ex)) {
    answer_by(std::move(source));
  }

  future<T> get_future() { return promise_.get_future(); }

  template <class Function, class Source>
  void call(Function&& function, Source&& source) {
    using result = std::invoke_result_t<Function, Source>;
    try {
      if (promise_.is_cancelled()) {
        promise_.fail(make_aborted());
      } else if constexpr (!std::is_same_v<result, typename unwrapped_future<result>::type>) {
        wait_for(std::forward<Function>(function)(std::forward<Source>(source)));
      } else if constexpr (std::is_void_v<result>) {
        std::forward<Function>(function)(std::forward<Source>(source));
        promise_.set_value();
      } else {
        promise_.set_value(std::forward<Function>(function)(std::forward<Source>(source)));
      }
    } catch (...) {
      if (promise_.state_)  // otherwise it is broken: what was to wait for the inner future is gone
        promise_.fail(std::current_exception());
    }
  }

 private:
  void answer_by(future_reference<future_state_base> source) {
    promise_.get_cancellation_slot().template emplace<future_canceller>(std::move(source));
    promise_.state_->answers = true;
  }

  void wait_for(future<T> inner) {
    if (!inner.valid())
      throw_future_error(std::future_errc::no_state);
    auto source = copy_reference(future_access::state(inner));
    answer_by(future_reference<future_state_base>(source.release()));
    if (promise_.is_cancelled())
      inner.request_cancel();
    const Executor executor(executor_);
    attach_future_callback(inner, executor,
                           [result = std::move(promise_)](future<T> ready) mutable {
                             result.set(std::move(future_access::state(ready)->result));
                           });
  }

  [[no_unique_address]] Executor executor_;
  promise<T> promise_;
};

}  // namespace detail

template <class T>
template <class Executor, class F>
auto future<T>::then_in(const Executor& ex, F&& function) {
  using returned = std::invoke_result_t<std::decay_t<F>, future>;
  using value = typename detail::unwrapped_future<returned>::type;
  this->state();
  detail::then_result<value, Executor> result(ex, this->base_reference());
  future<value> made = result.get_future();
  attach_callback(ex, [to = std::move(result), call = std::decay_t<F>(std::forward<F>(function))](
                          future ready) mutable { to.call(std::move(call), std::move(ready)); });
  return made;
}

/// Has `ex` call `f(args...)`, with decayed copies, and gives a future of what it returns or
/// throws. Never inside this call.
///
///     future<int> f = async(context, &add, 1, 2);
///
/// Errors: throws what the allocation, the copies or the executor throw. If the context is
/// destroyed before `f` is called, the promise is broken. Cancellation: future::request_cancel.
/// Thread safety: any thread. O(1): one block for the function and its result, recycled per thread.
template <detail::executor_or_context Place, class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
auto async(Place&& place, F&& f, Args&&... args) {
  using result = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;
  auto call = [f = std::decay_t<F>(std::forward<F>(f)),
               args = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable
      -> decltype(auto) { return std::apply(std::move(f), std::move(args)); };
  using operation = detail::async_operation<result, decltype(call)>;
  const auto& ex = detail::executor_at(place);
  auto* const op = typename operation::memory(std::in_place, {}, detail::make_future_producer(ex),
                                              std::move(call))
                       .release();
  auto made = detail::future_access::make<result>(
      detail::future_reference<detail::future_state<result>>(op));
  if (detail::scheduler* const native = detail::native_scheduler(ex))
    detail::scheduler_post(*native, op);
  else
    detail::executor_post(ex, detail::operation_function(op), std::allocator<void>());
  return made;
}

/// A future that is ready.
template <class T>
future<std::decay_t<T>> make_ready_future(T&& value) {
  promise<std::decay_t<T>> p;
  auto made = p.get_future();
  p.set_value(std::forward<T>(value));
  return made;
}
inline future<void> make_ready_future() {
  promise<void> p;
  auto made = p.get_future();
  p.set_value();
  return made;
}

/// A future of what a std::future has. That has no way to tell anybody, so one thread of `pool`, a
/// thread_pool for instance, blocks until it is ready: not the executor of a loop.
template <class T, detail::executor_or_context Place>
future<T> from_std_future(Place&& pool, std::future<T> f) {
  return WEFT_NAMESPACE::async(pool, [f = std::move(f)]() mutable -> T { return f.get(); });
}

/// A std::future of what `f` will have, which is passed on in the system executor. Throws
/// std::future_error (no_state), std::bad_alloc.
template <class T>
std::future<T> to_std_future(future<T> f) {
  std::promise<T> p;
  std::future<T> made = p.get_future();
  f.attach_callback(system_executor(), [p = std::move(p)](future<T> ready) mutable {
    try {
      if constexpr (std::is_void_v<T>) {
        ready.get();
        p.set_value();
      } else {
        p.set_value(ready.get());
      }
    } catch (...) {
      p.set_exception(std::current_exception());
    }
  });
  return made;
}

}  // namespace WEFT_NAMESPACE
