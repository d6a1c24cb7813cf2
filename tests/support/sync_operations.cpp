// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/async/detached.hpp>
#include <weft/base/error.hpp>
#include <weft/io/write_queue.hpp>
#include <weft/net/local.hpp>
#include <weft/sync/async_barrier.hpp>
#include <weft/sync/async_condition.hpp>
#include <weft/sync/async_event.hpp>
#include <weft/sync/async_latch.hpp>
#include <weft/sync/async_mutex.hpp>
#include <weft/sync/async_semaphore.hpp>
#include <weft/sync/async_shared_mutex.hpp>
#include <weft/sync/future.hpp>

#include "support/operations.hpp"

namespace weft_test {
namespace {

using weft::io_context;

template <class Mutex>
struct exclusive_lock : operation_case {
  explicit exclusive_lock(io_context& c) : mutex(c) { mutex.try_lock(); }
  template <class Token>
  auto perform(Token&& token) {
    return mutex.async_lock(std::forward<Token>(token));
  }
  void satisfy() override { mutex.unlock(); }
  void cancel() override { mutex.cancel(); }

  Mutex mutex;
};

/// What a wait is given is unlocked with its results.
template <class Mutex>
struct scoped_lock : exclusive_lock<Mutex> {
  using exclusive_lock<Mutex>::exclusive_lock;
  template <class Token>
  auto perform(Token&& token) {
    return this->mutex.async_scoped_lock(std::forward<Token>(token));
  }
  void satisfy() override {
    if (std::exchange(is_locked, false))
      this->mutex.unlock();
  }

  bool is_locked = true;
};

struct scoped_lock_shared : scoped_lock<weft::async_shared_mutex> {
  using scoped_lock::scoped_lock;
  template <class Token>
  auto perform(Token&& token) {
    return mutex.async_scoped_lock_shared(std::forward<Token>(token));
  }
};

struct semaphore_acquire : operation_case {
  explicit semaphore_acquire(io_context& c) : semaphore(c, 0) {}
  template <class Token>
  auto perform(Token&& token) {
    return semaphore.async_acquire(std::forward<Token>(token));
  }
  void satisfy() override { semaphore.release(); }
  void cancel() override { semaphore.cancel(); }

  weft::async_semaphore semaphore;
};

struct event_wait : operation_case {
  explicit event_wait(io_context& c) : event(c, weft::event_reset::automatic) {}
  template <class Token>
  auto perform(Token&& token) {
    return event.async_wait(std::forward<Token>(token));
  }
  void satisfy() override { event.set(); }
  void cancel() override { event.cancel(); }

  weft::async_event event;
};

struct condition_wait : operation_case {
  explicit condition_wait(io_context& c) : mutex(c), condition(c) {}
  template <class Token>
  auto perform(Token&& token) {
    mutex.try_lock();  // or the wait before has it
    return condition.async_wait(mutex, std::forward<Token>(token));
  }
  void satisfy() override { condition.notify_one(); }
  void cancel() override { condition.cancel(); }

  weft::async_mutex mutex;
  weft::async_condition condition;
};

/// With a predicate, which holds at one look after each `satisfy`.
struct condition_until : condition_wait {
  using condition_wait::condition_wait;
  void start(probe p) override {
    mutex.try_lock();
    condition.async_wait(
        mutex, [this] { return std::exchange(is_satisfied, false); }, std::move(p));
  }
  void satisfy() override {
    is_satisfied = true;
    condition.notify_one();
  }

  bool is_satisfied = false;
};

struct shared_mutex_lock_shared : exclusive_lock<weft::async_shared_mutex> {
  using exclusive_lock::exclusive_lock;
  template <class Token>
  auto perform(Token&& token) {
    return mutex.async_lock_shared(std::forward<Token>(token));
  }
  void satisfy() override {
    if (is_exclusive)
      mutex.unlock();
    else
      mutex.unlock_shared();
    is_exclusive = false;
  }

  bool is_exclusive = true;
};

/// A promise is kept once: each wait has one of its own.
struct on_promise : operation_case {
  explicit on_promise(io_context& c) : context(c) {}
  void satisfy() override {
    if (!std::exchange(is_kept, true))
      promise.set_value(1);
  }
  weft::error_code fail() override {
    const weft::error_code error = weft::error::connection_refused;
    promise.set_exception(std::make_exception_ptr(weft::system_error(error)));
    is_kept = true;
    return error;
  }
  weft::future<int>& next_future() {
    if (has_waited) {
      promise = weft::promise<int>(context.get_executor());
      is_kept = false;
    }
    has_waited = true;
    return future = promise.get_future();
  }

  io_context& context;
  weft::promise<int> promise{context.get_executor()};
  weft::future<int> future;
  bool has_waited = false;
  bool is_kept = false;
};

/// It succeeds, whatever the result.
struct future_wait : on_promise {
  using on_promise::on_promise;
  template <class Token>
  auto perform(Token&& token) {
    return next_future().async_wait(std::forward<Token>(token));
  }
};

struct future_get : on_promise {
  using on_promise::on_promise;
  template <class Token>
  auto perform(Token&& token) {
    return next_future().async_get(std::forward<Token>(token));
  }
};

struct shared_future_get : on_promise {
  using on_promise::on_promise;
  template <class Token>
  auto perform(Token&& token) {
    return next_future().share().async_get(std::forward<Token>(token));
  }
};

/// A latch opens once: each wait has one of its own.
struct latch_wait : operation_case {
  explicit latch_wait(io_context& c) : context(c), latch(std::in_place, c, 1u) {}
  template <class Token>
  auto perform(Token&& token) {
    if (has_waited && is_open) {
      latch.emplace(context, 1u);
      is_open = false;
    }
    has_waited = true;
    return latch->async_wait(std::forward<Token>(token));
  }
  void satisfy() override {
    if (!is_open)
      latch->count_down();
    is_open = true;
  }
  void cancel() override { latch->cancel(); }

  io_context& context;
  std::optional<weft::async_latch> latch;
  bool has_waited = false;
  bool is_open = false;
};

void arrive(weft::async_barrier& barrier) {
  barrier.arrive();
}
void arrive(weft::async_latch& latch) {
  latch.count_down();
}

/// Waits for the second of two arrivals. What has been counted stays so: each wait has an object of
/// its own.
template <class Object>
struct arrival : operation_case {
  explicit arrival(io_context& c) : context(c), object(std::in_place, c, 2u) {}
  template <class Token>
  auto perform(Token&& token) {
    return next_object().async_arrive_and_wait(std::forward<Token>(token));
  }
  void satisfy() override {
    if (std::exchange(is_awaited, false))
      arrive(*object);
  }
  void cancel() override { object->cancel(); }
  Object& next_object() {
    is_awaited = true;
    return object.emplace(context, 2u);
  }

  io_context& context;
  std::optional<Object> object;
  bool is_awaited = false;
};

struct barrier_wait : arrival<weft::async_barrier> {
  using arrival::arrival;
  template <class Token>
  auto perform(Token&& token) {
    weft::async_barrier& barrier = next_object();
    return barrier.async_wait(barrier.arrive(), std::forward<Token>(token));
  }
};

/// A queue whose stream takes no more, with a write that has begun.
struct on_full_write_queue : operation_case {
  explicit on_full_write_queue(io_context& c) : a(c), b(c), queue(a, {.high = 1, .low = 0}) {
    weft::local::connect_pair(a, b);
    a.non_blocking(true);
    b.non_blocking(true);
    weft::error_code ec;
    while (!ec)
      a.write_some(weft::buffer(bytes), ec);
    queue.async_write(std::string("x"), weft::detached);
  }
  void satisfy() override {
    weft::error_code ec;
    while (!ec)
      b.read_some(weft::buffer(bytes), ec);
  }
  void cancel() override { queue.cancel(); }

  std::array<char, 4096> bytes{};
  weft::local::stream_protocol::socket a, b;
  weft::write_queue<weft::local::stream_protocol::socket&> queue;
};

struct queued_write : on_full_write_queue {
  using on_full_write_queue::on_full_write_queue;
  template <class Token>
  auto perform(Token&& token) {
    return queue.async_write(std::string("y"), std::forward<Token>(token));
  }
};

struct write_queue_flush : on_full_write_queue {
  using on_full_write_queue::on_full_write_queue;
  template <class Token>
  auto perform(Token&& token) {
    return queue.async_flush(std::forward<Token>(token));
  }
};

struct write_queue_room : on_full_write_queue {
  using on_full_write_queue::on_full_write_queue;
  template <class Token>
  auto perform(Token&& token) {
    return queue.async_wait_writable(std::forward<Token>(token));
  }
};

}  // namespace

std::span<const operation_family> sync_operation_families() {
  constexpr bool pends = true, satisfiable = true, cancels = true, no = false;
  constexpr auto fails = failure::by_fail, none = failure::none;
  static const std::vector<operation_family> families{
      {"mutex_lock", pends, satisfiable, cancels, none, make<exclusive_lock<weft::async_mutex>>},
      {"mutex_scoped_lock", pends, satisfiable, cancels, none,
       make<scoped_lock<weft::async_mutex>>},
      {"shared_mutex_lock", pends, satisfiable, cancels, none,
       make<exclusive_lock<weft::async_shared_mutex>>},
      {"shared_mutex_scoped_lock", pends, satisfiable, cancels, none,
       make<scoped_lock<weft::async_shared_mutex>>},
      {"shared_mutex_lock_shared", pends, satisfiable, cancels, none,
       make<shared_mutex_lock_shared>},
      {"shared_mutex_scoped_lock_shared", pends, satisfiable, cancels, none,
       make<scoped_lock_shared>},
      {"semaphore_acquire", pends, satisfiable, cancels, none, make<semaphore_acquire>},
      {"event_wait", pends, satisfiable, cancels, none, make<event_wait>},
      {"condition_wait", pends, satisfiable, cancels, none, make<condition_wait>},
      {"condition_until", pends, satisfiable, cancels, none, make<condition_until>},
      {"latch_wait", pends, satisfiable, cancels, none, make<latch_wait>},
      {"latch_arrive", pends, satisfiable, cancels, none, make<arrival<weft::async_latch>>},
      {"barrier_wait", pends, satisfiable, cancels, none, make<barrier_wait>},
      {"barrier_arrive", pends, satisfiable, cancels, none, make<arrival<weft::async_barrier>>},
      {"future_wait", pends, satisfiable, no, none, make<future_wait>},
      {"future_get", pends, satisfiable, no, fails, make<future_get>},
      {"shared_future_get", pends, satisfiable, no, fails, make<shared_future_get>},
      {"queued_write", pends, satisfiable, cancels, none, make<queued_write>},
      {"write_queue_flush", pends, satisfiable, cancels, none, make<write_queue_flush>},
      {"write_queue_room", pends, satisfiable, cancels, none, make<write_queue_room>},
  };
  return families;
}

}  // namespace weft_test
