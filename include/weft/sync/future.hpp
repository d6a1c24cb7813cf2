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
  template <class Future>
  static auto& state(Future& f) noexcept {
    return f.state_;
  }
};

/// An executor that what waits for a future may name.
template <class E>
concept future_executor = any_style_executor<E>;

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
  /// it (of any loop with one thread, if nobody knows who will produce it) they throw system_error
  /// (error::would_deadlock) instead.
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
                                                                 waiting_executor(*state_)),
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
      : future_(std::move(f)), function_(std::forward<F>(function)) {}

  allocator_type get_allocator() const noexcept { return get_associated_allocator(function_); }
  void operator()(error_code) { std::move(function_)(std::move(future_)); }

  Future& future_kept() noexcept { return future_; }

 private:
  Future future_;
  Function function_;
};

/// Attaches a callback; if that throws, `f` has its result still.
template <class Future, class Executor, class F>
void attach_future_callback(Future& f, const Executor& ex, F&& function) {
  using handler = future_callback<Future, std::decay_t<F>>;
  using initiation = initiate_future_wait<future_ready_wait, Executor>;
  using op_type = handler_operation<future_ready_wait, handler, Executor>;
  auto state = copy_reference(future_access::state(f));
  if (!state)
    throw_future_error(std::future_errc::no_state);
  initiation wait(future_reference<future_state_base>(state.release()), ex);
  scheduler* const native = native_scheduler(ex);
  scheduler& owner = native ? *native : wait.owner();
  handler target(std::move(f), std::forward<F>(function));
  op_type* op;
  try {
    op = op_type::create(target, ex, owner, std::move(wait)).release();
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
  op_type::complete_immediately(op, ex);
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
  /// void, or `void(std::exception_ptr, U*)` if T is U&; with an exception comes `T()`.
  /// Cancellation: all types, with system_error (operation_aborted); the result is lost then. To
  /// keep it, async_wait. The future refers to nothing afterwards. The rest as async_wait.
  template <completion_token_for<typename detail::future_argument<T>::signature> Token = deferred_t>
  auto async_get(Token&& token = Token()) {
    using namespace detail;
    this->state();
    const any_io_executor executor = waiting_executor(*this->state_);
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
  template <detail::future_executor Executor, class F>
    requires std::invocable<std::decay_t<F>, future>
  void attach_callback(const Executor& ex, F&& function) {
    detail::attach_future_callback(*this, ex, std::forward<F>(function));
  }
  template <detail::execution_context_type Context, class F>
    requires std::invocable<std::decay_t<F>, future>
  void attach_callback(Context& context, F&& function) {
    attach_callback(context.get_executor(), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, future>
  void attach_callback(F&& function) {
    attach_callback(detail::waiting_executor(this->state()), std::forward<F>(function));
  }

  /// The same, and gives a future of what `function` returns or throws; of what that future will
  /// have, if it returns one. A request to cancel that reaches it goes on to this one. If the
  /// function is destroyed un-called, the promise is broken.
  ///
  ///     future<std::string> name = async(pool, find).then(context, [](future<record> r) {
  ///       return r.get().name;
  ///     });
  template <detail::future_executor Executor, class F>
    requires std::invocable<std::decay_t<F>, future>
  auto then(const Executor& ex, F&& function) {
    return then_in(ex, detail::make_future_producer(ex), std::forward<F>(function));
  }
  template <detail::execution_context_type Context, class F>
    requires std::invocable<std::decay_t<F>, future>
  auto then(Context& context, F&& function) {
    return then(context.get_executor(), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, future>
  auto then(F&& function) {
    return then(detail::waiting_executor(this->state()), std::forward<F>(function));
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
  auto then_in(const Executor& ex, detail::future_producer producer, F&& function);
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

  /// As future::async_get, with a copy of the result.
  template <completion_token_for<typename detail::future_argument<T>::signature> Token = deferred_t>
  auto async_get(Token&& token = Token()) const {
    using namespace detail;
    this->state();
    return async_initiate<Token, typename future_argument<T>::signature>(
        initiate_future_wait<future_get_wait<T, true>, any_io_executor>(
            this->base_reference(), waiting_executor(*this->state_)),
        token);
  }
  template <completion_token_for<typename detail::future_argument<T>::signature> Token>
  auto operator()(Token&& token) const {
    return async_get(std::forward<Token>(token));
  }

  /// As future::attach_callback, with a copy of this.
  template <detail::future_executor Executor, class F>
    requires std::invocable<std::decay_t<F>, shared_future>
  void attach_callback(const Executor& ex, F&& function) const {
    shared_future copy(*this);
    detail::attach_future_callback(copy, ex, std::forward<F>(function));
  }
  template <detail::execution_context_type Context, class F>
    requires std::invocable<std::decay_t<F>, shared_future>
  void attach_callback(Context& context, F&& function) const {
    attach_callback(context.get_executor(), std::forward<F>(function));
  }
  template <class F>
    requires std::invocable<std::decay_t<F>, shared_future>
  void attach_callback(F&& function) const {
    attach_callback(detail::waiting_executor(this->state()), std::forward<F>(function));
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
  template <detail::future_executor Executor>
    requires std::convertible_to<const Executor&, any_io_executor>
  explicit promise(const Executor& ex) : promise(detail::future_producer{.executor = ex}) {}
  template <detail::execution_context_type Context>
  explicit promise(Context& context) : promise(context.get_executor()) {}
  promise(promise&& other) noexcept
      : state_(std::move(other.state_)),
        has_future_(other.has_future_),
        is_satisfied_(other.is_satisfied_),
        answers_(other.answers_) {}
  promise& operator=(promise other) noexcept {
    swap(other);
    return *this;
  }
  ~promise() {
    if (!state_)
      return;
    if (!is_satisfied_)
      fail(detail::make_future_error(std::future_errc::broken_promise));
    if (!has_future_)
      state_->drop_reference();
  }

  void swap(promise& other) noexcept {
    std::swap(has_future_, other.has_future_);
    std::swap(is_satisfied_, other.is_satisfied_);
    std::swap(answers_, other.answers_);
    auto* const mine = state_.release();
    state_.reset(other.state_.release());
    other.state_.reset(mine);
  }

  /// Once. Throws std::future_error (future_already_retrieved, no_state).
  future<T> get_future() {
    check();
    if (std::exchange(has_future_, true))
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
    assert(error && "an exception of nothing");
    check_unsatisfied();
    fail(std::move(error));
  }
  /// The same with what another future has, which must be ready: a value or an exception.
  void set_from(future<T> ready) {
    check_unsatisfied();
    assert(ready.is_ready() && "set_from takes a future that is ready");
    state_->result = std::move(detail::future_access::state(ready)->result);
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
        answers_ = true;
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
  using state_type = detail::promise_state<T>;

  explicit promise(detail::future_producer&& producer)
      : state_(state_type::create(std::move(producer))) {}

  state_type& check() const {
    if (!state_)
      detail::throw_future_error(std::future_errc::no_state);
    return *state_;
  }
  void check_unsatisfied() const {
    check();
    if (is_satisfied_)
      detail::throw_future_error(std::future_errc::promise_already_satisfied);
  }
  void fail(std::exception_ptr error) noexcept {
    state_->result.set_error(std::move(error));
    satisfy();
  }
  void satisfy() noexcept {
    is_satisfied_ = true;
    if (answers_)
      state_->slot().clear();
    state_->fulfil();
  }

  detail::future_reference<state_type> state_;
  bool has_future_ = false;
  bool is_satisfied_ = false;
  bool answers_ = false;  // on_cancel has put something into the slot
};

namespace detail {

/// A function with arguments that are kept for it.
template <class Function, class... Args>
class kept_call {
 public:
  template <class F, class... A>
  explicit kept_call(F&& f, A&&... args)
      : function_(std::forward<F>(f)), args_(std::forward<A>(args)...) {}
  decltype(auto) operator()() && { return std::apply(std::move(function_), std::move(args_)); }

 private:
  Function function_;
  std::tuple<Args...> args_;
};
template <class Function>
class kept_call<Function> {
 public:
  template <class F>
  explicit kept_call(F&& f) : function_(std::forward<F>(f)) {}
  decltype(auto) operator()() && { return std::move(function_)(); }

 private:
  Function function_;
};

/// The function of an `async`, on its way through an executor, and its result, in one block. The
/// function is destroyed before anyone is told.
template <class T, class Call>
class async_operation final : public operation, public future_state<T> {
  using base = future_state_base;

 public:
  template <class... Args>
  static async_operation* create(future_producer&& producer, Args&&... args) {
    void* const memory = thread_memory::allocate(sizeof(async_operation), alignof(async_operation));
    try {
      return ::new (memory) async_operation(std::move(producer), std::forward<Args>(args)...);
    } catch (...) {
      thread_memory::deallocate(memory, sizeof(async_operation), alignof(async_operation));
      throw;
    }
  }

 private:
  template <class... Args>
  explicit async_operation(future_producer&& producer, Args&&... args)
      : operation(&run),
        future_state<T>(&act, std::move(producer)),
        call_(std::forward<Args>(args)...) {}
  ~async_operation() {}

  static void act(base* state, typename base::action what) {
    if (what == base::action::cancel)
      return;  // the flag says it
    auto* const self = static_cast<async_operation*>(state);
    self->~async_operation();
    thread_memory::deallocate(self, sizeof(async_operation), alignof(async_operation));
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
    self->drop_reference();
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
  then_result(const Executor& ex, future_producer&& producer,
              future_reference<future_state_base> source)
      : executor_(ex), promise_(std::move(producer)) {
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
    promise_.answers_ = true;
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
                             result.set_from(std::move(ready));
                           });
  }

  [[no_unique_address]] Executor executor_;
  promise<T> promise_;
};

}  // namespace detail

template <class T>
template <class Executor, class F>
auto future<T>::then_in(const Executor& ex, detail::future_producer producer, F&& function) {
  using returned = std::invoke_result_t<std::decay_t<F>, future>;
  using value = typename detail::unwrapped_future<returned>::type;
  this->state();
  detail::then_result<value, Executor> result(ex, std::move(producer), this->base_reference());
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
template <detail::future_executor Executor, class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
auto async(const Executor& ex, F&& f, Args&&... args)
    -> future<std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>> {
  using result = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;
  using call = detail::kept_call<std::decay_t<F>, std::decay_t<Args>...>;
  auto* const op = detail::async_operation<result, call>::create(
      detail::make_future_producer(ex), std::forward<F>(f), std::forward<Args>(args)...);
  auto made = detail::future_access::make<result>(
      detail::future_reference<detail::future_state<result>>(op));
  if (detail::scheduler* const native = detail::native_scheduler(ex))
    detail::scheduler_post(*native, op);
  else
    detail::executor_post(ex, detail::operation_function(op), std::allocator<void>());
  return made;
}

/// The same in the executor of `context`.
template <detail::execution_context_type Context, class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
auto async(Context& context, F&& f, Args&&... args)
    -> future<std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>> {
  return WEFT_NAMESPACE::async(context.get_executor(), std::forward<F>(f),
                               std::forward<Args>(args)...);
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
template <class T, detail::future_executor Executor>
future<T> from_std_future(const Executor& pool, std::future<T> f) {
  return WEFT_NAMESPACE::async(pool, [f = std::move(f)]() mutable -> T { return f.get(); });
}

namespace detail {

/// Fulfils a std::promise on the thread that makes the future ready; std::promise calls nobody.
template <class T>
class std_promise_waiter final : public future_waiter {
 public:
  explicit std_promise_waiter(future_reference<future_state<T>> state)
      : future_waiter(&tell), state_(std::move(state)) {}

  static std::future<T> start(future_reference<future_state<T>> state) {
    auto waiter = std::make_unique<std_promise_waiter>(std::move(state));
    std::future<T> made = waiter->promise_.get_future();
    switch (waiter->state_->attach(*waiter)) {
      case future_state_base::arrival::waits: waiter.release(); break;
      case future_state_base::arrival::is_ready: waiter->pass_on(); break;
      case future_state_base::arrival::is_taken:
        throw_future_error(std::future_errc::future_already_retrieved);
    }
    return made;
  }

 private:
  static void tell(future_waiter* base) noexcept {
    const std::unique_ptr<std_promise_waiter> self(static_cast<std_promise_waiter*>(base));
    self->pass_on();
  }

  void pass_on() noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        state_->result.get();
        promise_.set_value();
      } else {
        promise_.set_value(std::move(state_->result).get());
      }
    } catch (...) {
      promise_.set_exception(std::current_exception());
    }
  }

  future_reference<future_state<T>> state_;
  std::promise<T> promise_;
};

}  // namespace detail

/// A std::future of what `f` will have. Throws std::future_error (no_state), std::bad_alloc.
template <class T>
std::future<T> to_std_future(future<T> f) {
  if (!f.valid())
    detail::throw_future_error(std::future_errc::no_state);
  return detail::std_promise_waiter<T>::start(std::move(detail::future_access::state(f)));
}

}  // namespace WEFT_NAMESPACE
