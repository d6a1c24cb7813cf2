// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/sync/broadcast.hpp>
#include <weft/sync/channel.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/watch.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// What async_select takes: a case has a `result_type`, which is default-constructible, and a type
/// `wait`, of what waits on its behalf. That is a part of the select's operation:
///   - a constructor (select_part<Case>);
///   - `void list(select_locks&)`: names the lock that the following need, if any;
///   - `bool perform(completed_waits&) noexcept`: under the locks of all cases, whether it could be
///     performed at once;
///   - `void enqueue() noexcept`: under the locks, begins to wait: whoever performs it claims the
///     select first, by `id()`, and then has the whole operation ended;
///   - `auto start()`: what to call `arm()` of when the locks have been released;
///   - `void leave() noexcept`: no longer waits, once the select is claimed; what has been done is
///     not done again. The destructor does it, too;
///   - `bool is_aborted() const` and `result_type take()`, of the one that was claimed.
/// A case of a channel has an `executor_type` and `get_executor()` too.
template <class T>
concept select_case = requires {
  typename std::decay_t<T>::result_type;
  typename std::decay_t<T>::wait;
};

/// The locks of all cases, each once, in the order of their addresses.
template <std::size_t N>
class select_locks {
  struct entry {
    void* core;
    void (*lock)(void*);
    void (*unlock)(void*);
  };

 public:
  template <class Core>
  void add(Core& core) noexcept {
    entries_[count_++] = {&core, [](void* c) { static_cast<Core*>(c)->lock(); },
                          [](void* c) { static_cast<Core*>(c)->unlock(); }};
  }
  void lock() noexcept {
    const auto end = entries_.begin() + count_;
    std::sort(entries_.begin(), end,
              [](const entry& a, const entry& b) { return std::less<>()(a.core, b.core); });
    count_ = std::unique(entries_.begin(), end,
                         [](const entry& a, const entry& b) { return a.core == b.core; }) -
             entries_.begin();
    for (auto e = entries_.begin(); e != entries_.begin() + count_; ++e)
      e->lock(e->core);
  }
  void unlock() noexcept {
    for (auto e = entries_.begin() + count_; e != entries_.begin();) {
      --e;
      e->unlock(e->core);
    }
  }

 private:
  std::array<entry, N> entries_;
  std::ptrdiff_t count_ = 0;
};

/// What the cases of a select have in common.
struct select_whole {
  /// Ends it, unless somebody else has. Not for a case that a channel ends: that is queued by the
  /// channel.
  void end_by(const void* who) noexcept {
    if (claim.winner())
      return;
    const ending_lock lock(owner);
    if (claim.claim(who))
      scheduler_post(owner, op);
  }

  scheduler& owner;
  operation* const op;
  execution_context& context;
  select_claim claim;
};

template <class Case>
struct select_part {
  select_whole& whole;
  Case&& what;
};

/// With which of `cases` a select begins: another one each time.
WEFT_API std::size_t select_start(std::size_t cases) noexcept;

struct not_armed {
  void arm() const noexcept {}
};

/// A case of a channel: an operation that waits there, and ends the whole when it is taken from
/// there. A case that has lost stays in its channel's queue until the whole ends.
template <class Base>
class select_channel_wait final : public Base {
 public:
  template <class Case>
  explicit select_channel_wait(select_part<Case>&& part)
      : Base(&end, part.whole.owner, std::move(part.what), part.whole.claim), whole_(part.whole) {
    this->retain();
  }
  ~select_channel_wait() { leave(); }

  /// Waits no longer, if it has lost.
  void leave() noexcept {
    if (!this->is_pending() || std::exchange(has_left_, true))
      return;
    {
      const std::lock_guard lock(this->core());
      this->core().remove(*this);
    }
    scheduler_work_finished(this->owner());
  }

  template <std::size_t N>
  void list(select_locks<N>& locks) noexcept {
    locks.add(this->core());
  }
  bool perform(completed_waits& done) noexcept { return this->core().perform(*this, done); }
  void enqueue() noexcept { this->core().enqueue(*this); }
  not_armed start() const noexcept { return {}; }
  const void* id() const noexcept { return static_cast<const typename Base::wait_type*>(this); }
  bool is_aborted() const noexcept { return !this->is_granted(); }
  auto take() noexcept(noexcept(this->result())) { return this->result(); }

 private:
  static void end(operation* base, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Base>(base, true);
    operation* const whole = static_cast<select_channel_wait*>(base)->whole_.op;
    if (what == operation::action::invoke)
      whole->invoke();
    else
      whole->destroy();
  }

  select_whole& whole_;
  bool has_left_ = false;
};

template <class... Cases>
class select_operation : public operation {
  using results = std::variant<typename Cases::result_type...>;
  using indices = std::index_sequence_for<Cases...>;

 public:
  template <class Initiation>
  select_operation(function f, scheduler& owner, Initiation&& initiation)
      : select_operation(f, owner, executor_context(initiation.get_executor()), initiation.cases(),
                         indices()) {}

  scheduler& owner() const noexcept { return whole_.owner; }

  bool start() noexcept { return start(indices()); }

  /// What it touches is the operation itself.
  void retain() const noexcept {}
  void cancel(cancellation_type type) noexcept {
    if (type != cancellation_type::none)
      whole_.end_by(this);
  }

  operation_results<error_code, results> take_results() { return take(indices()); }

  void leave_owner() noexcept {
    std::apply([](auto&... waits) { (waits.leave(), ...); }, waits_);
  }

 private:
  template <std::size_t... I>
  select_operation(function f, scheduler& owner, execution_context& context,
                   std::tuple<Cases...>& cases, std::index_sequence<I...>)
      : operation(f),
        whole_{owner, this, context, {}},
        waits_(select_part<Cases>{whole_, std::get<I>(std::move(cases))}...) {}

  template <std::size_t... I>
  bool start(std::index_sequence<I...>) noexcept {
    // Once the locks are released, all may be over.
    [[maybe_unused]] auto armed = std::tuple(std::get<I>(waits_).start()...);
    select_locks<sizeof...(Cases)> locks;
    (std::get<I>(waits_).list(locks), ...);
    completed_waits done;
    {
      const std::lock_guard lock(locks);
      const std::size_t first = select_start(sizeof...(Cases));
      for (std::size_t i = 0; i != sizeof...(Cases); ++i) {
        const std::size_t wanted = (first + i) % sizeof...(Cases);
        if (((I == wanted && perform(std::get<I>(waits_), done)) || ...))
          return false;
      }
      (std::get<I>(waits_).enqueue(), ...);
    }
    (std::get<I>(armed).arm(), ...);
    return true;
  }

  template <class Wait>
  bool perform(Wait& wait, completed_waits& done) noexcept {
    return wait.perform(done) && whole_.claim.claim(wait.id());
  }

  template <std::size_t... I>
  operation_results<error_code, results> take(std::index_sequence<I...>) {
    operation_results<error_code, results> r{error::operation_aborted, {}};
    const void* const winner = whole_.claim.winner();
    const auto look = [&](auto index, auto& wait) {
      if (wait.id() != winner || wait.is_aborted())
        return;
      r.first = error_code();
      r.second.template emplace<index.value>(wait.take());
    };
    (look(std::integral_constant<std::size_t, I>(), std::get<I>(waits_)), ...);
    return r;
  }

  select_whole whole_;
  std::tuple<typename Cases::wait...> waits_;
};

template <class Executor, class... Cases>
class initiate_select {
 public:
  using executor_type = Executor;
  using operation_type = select_operation<Cases...>;
  using signature = void(error_code, std::variant<typename Cases::result_type...>);

  template <class... C>
  explicit initiate_select(const Executor& executor, scheduler& owner, C&&... cases)
      : executor_(executor), owner_(&owner), cases_(std::forward<C>(cases)...) {}

  const executor_type& get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return *owner_; }
  std::tuple<Cases...>& cases() noexcept { return cases_; }

  template <class Handler>
  void operator()(Handler&& handler) {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  [[no_unique_address]] Executor executor_;
  scheduler* owner_;
  std::tuple<Cases...> cases_;
};

template <class Channel>
class receive_case {
  using base = channel_receive<typename Channel::value_type, typename Channel::policy_type>;

 public:
  using executor_type = typename Channel::executor_type;
  using result_type = std::optional<typename Channel::value_type>;

  explicit receive_case(const Channel& channel) noexcept : channel_(&channel) {}
  const executor_type& get_executor() const noexcept { return channel_->get_executor(); }
  auto& core() const noexcept { return channel_access::core(*channel_); }

  class waiting : public base {
   public:
    waiting(typename base::function f, scheduler& owner, receive_case&& what,
            select_claim& claim) noexcept
        : base(f, owner, what.core(), &claim) {}
    result_type result() noexcept { return std::move(this->value); }
  };
  using wait = select_channel_wait<waiting>;

 private:
  const Channel* channel_;
};

template <class Channel>
class send_case {
  using value_type = typename Channel::value_type;
  using base = channel_send<value_type, typename Channel::policy_type>;

 public:
  using executor_type = typename Channel::executor_type;
  using result_type = bool;

  send_case(const Channel& channel, value_type&& value) noexcept
      : channel_(&channel), value_(std::move(value)) {}
  const executor_type& get_executor() const noexcept { return channel_->get_executor(); }
  auto& core() const noexcept { return channel_access::core(*channel_); }

  class waiting : public base {
   public:
    waiting(typename base::function f, scheduler& owner, send_case&& what,
            select_claim& claim) noexcept
        : base(f, owner, what.core(), std::move(what.value_), &claim) {}
    result_type result() const noexcept { return this->has_succeeded(); }
  };
  using wait = select_channel_wait<waiting>;

 private:
  const Channel* channel_;
  value_type value_;
};

/// The receiver of a broadcast.
template <class T>
concept broadcast_receiver = requires(T& receiver) { receiver.take_missed(); };

/// A case of a broadcast's receiver, or of a watch: `Initiation` is that of its operation, which
/// has `result()`.
template <class Initiation>
class publishing_case {
  using base = typename Initiation::operation_type;

 public:
  using executor_type = typename Initiation::executor_type;
  using result_type = decltype(std::declval<const base&>().result());

  explicit publishing_case(Initiation initiation) noexcept : initiation_(std::move(initiation)) {}
  const executor_type& get_executor() const noexcept { return initiation_.get_executor(); }
  auto& core() const noexcept { return initiation_.core(); }

  class waiting : public base {
   public:
    waiting(operation::function f, scheduler& owner, publishing_case&& what,
            select_claim& claim) noexcept
        : base(f, owner, what.initiation_, &claim) {}
  };
  using wait = select_channel_wait<waiting>;

 private:
  Initiation initiation_;
};

template <class Token, class Tuple, std::size_t... I>
auto select_of(Token& token, Tuple&& cases, std::index_sequence<I...>) {
  using first = std::decay_t<std::tuple_element_t<0, std::decay_t<Tuple>>>;
  static_assert(
      requires { typename first::executor_type; },
      "the first case of async_select is one of a channel, to whose context it belongs");
  using initiation = initiate_select<typename first::executor_type,
                                     std::decay_t<std::tuple_element_t<I, std::decay_t<Tuple>>>...>;
  auto& front = std::get<0>(cases);
  const auto executor = front.get_executor();
  scheduler& owner = front.core().owner();
  return async_initiate<Token, typename initiation::signature>(
      initiation(executor, owner, std::get<I>(std::move(cases))...), token);
}

}  // namespace detail

/// A case of async_select: to receive from `channel`. Its result is a std::optional of the value;
/// nothing, if the channel has been closed and is empty.
template <class T, class Policy, class Executor, class Transform>
auto on_receive(basic_channel<T, Policy, Executor, Transform>& channel) {
  return detail::receive_case<basic_channel<T, Policy, Executor, Transform>>(channel);
}

/// A case of async_select: to send `value` on `channel`. Its result is a bool: whether it was
/// taken; false, if the channel has been closed.
template <class T, class Policy, class Executor, class Transform>
auto on_send(basic_channel<T, Policy, Executor, Transform>& channel,
             std::type_identity_t<T> value) {
  return detail::send_case<basic_channel<T, Policy, Executor, Transform>>(channel,
                                                                          std::move(value));
}

/// The same with a oneshot_receiver.
template <class T, class Policy, class Executor>
auto on_receive(oneshot_receiver<T, Policy, Executor>& receiver) {
  return on_receive(detail::channel_access::channel(receiver));
}

/// The same with the receiver of a broadcast. If values were overwritten before it came to them, it
/// gives the oldest that is left; `receiver.take_missed()` tells how many. If copying the value
/// throws, that leaves the wait of a coroutine or a fiber, or `run()`; the value is lost then.
template <detail::broadcast_receiver Receiver>
auto on_receive(Receiver& receiver) {
  return detail::publishing_case(detail::publishing_access::initiation(receiver));
}

/// A case of async_select: that `watch` has another version than `known`. Its result is a
/// std::optional of the version that it has; nothing, if there will be no other.
template <class T, class Policy, class Executor>
auto on_changed(basic_watch<T, Policy, Executor>& watch, std::uint64_t known) {
  return detail::publishing_case(detail::publishing_access::initiation(watch, known));
}

/// Waits until one of several cases can be performed, and performs that one and no other:
///
///     const auto done = co_await async_select(on_receive(requests), on_send(log, line),
///                                             on_timeout(std::chrono::seconds(1)));
///     switch (done.index()) {
///       case 0: serve(std::get<0>(done)); break;  // a std::optional: nothing, if it is closed
///       ...
///
/// The arguments are cases (`on_receive`, `on_send`, `on_changed`; `on_timeout` of io/), the first
/// of them not a timeout, and a completion token, which may be left out. If several cases can be
/// performed at once, which one it is is left to chance, so that none starves. The channel of a
/// case whose result says that it has been closed is ready at once from then on: leave it out.
///
/// Completion: `void(error_code, std::variant<...>)`, with the result of the case that was
/// performed, in its place. The other cases have had no effect: nothing was taken from their
/// channels, nor put in. With an error no case was performed: error::operation_aborted, if it was
/// cancelled, or one of the channels was, or was destroyed.
/// Cancellation: by the slot (terminal, partial, total).
/// Throws what moving the values, the handler, or the allocations throw. Any thread, if all
/// channels are concurrent. O(cases), and as many locks. A timeout takes memory of its own,
/// recycled.
template <class First, class... More>
  requires detail::select_case<First>
auto async_select(First first, More&&... more) {
  constexpr std::size_t count = sizeof...(More);
  if constexpr ((detail::select_case<More> && ...)) {
    default_completion_token_t<typename First::executor_type> token;
    return detail::select_of(
        token, std::tuple<First, std::decay_t<More>...>(std::move(first), std::move(more)...),
        std::make_index_sequence<count + 1>());
  } else {
    using arguments = std::tuple<First, More...>;
    using token_type = std::tuple_element_t<count, arguments>;
    std::tuple<First&&, More&&...> all(std::move(first), std::forward<More>(more)...);
    return detail::select_of<token_type>(std::get<count>(all), std::move(all),
                                         std::make_index_sequence<count>());
  }
}

}  // namespace WEFT_NAMESPACE
