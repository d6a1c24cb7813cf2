// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <optional>
#include <string>
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
#include <weft/sync/broadcast.hpp>
#include <weft/sync/channel.hpp>
#include <weft/sync/future.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/select.hpp>
#include <weft/sync/watch.hpp>

#include "support/operations.hpp"

namespace weft_test {
namespace {

using weft::io_context;

template <class Mutex>
struct exclusive_lock : operation_case {
  explicit exclusive_lock(io_context& c) : mutex(c) { mutex.try_lock(); }
  void start(probe p) override { mutex.async_lock(std::move(p)); }
  void satisfy() override { mutex.unlock(); }
  void cancel() override { mutex.cancel(); }

  Mutex mutex;
};

struct semaphore_acquire : operation_case {
  explicit semaphore_acquire(io_context& c) : semaphore(c, 0) {}
  void start(probe p) override { semaphore.async_acquire(std::move(p)); }
  void satisfy() override { semaphore.release(); }
  void cancel() override { semaphore.cancel(); }

  weft::async_semaphore semaphore;
};

struct event_wait : operation_case {
  explicit event_wait(io_context& c) : event(c, weft::event_reset::automatic) {}
  void start(probe p) override { event.async_wait(std::move(p)); }
  void satisfy() override { event.set(); }
  void cancel() override { event.cancel(); }

  weft::async_event event;
};

struct condition_wait : operation_case {
  explicit condition_wait(io_context& c) : mutex(c), condition(c) {}
  void start(probe p) override {
    mutex.try_lock();  // or the wait before has it
    condition.async_wait(mutex, std::move(p));
  }
  void satisfy() override { condition.notify_one(); }
  void cancel() override { condition.cancel(); }

  weft::async_mutex mutex;
  weft::async_condition condition;
};

struct channel_receive : operation_case {
  explicit channel_receive(io_context& c) : channel(c, 1) {}
  void start(probe p) override { channel.async_receive(std::move(p)); }
  void satisfy() override { channel.try_send(1); }
  void cancel() override { channel.cancel(); }

  weft::channel<int> channel;
};

struct channel_send : operation_case {
  explicit channel_send(io_context& c) : channel(c, 1) { channel.try_send(1); }
  void start(probe p) override { channel.async_send(2, std::move(p)); }
  void satisfy() override { channel.try_receive(); }
  void cancel() override { channel.cancel(); }

  weft::channel<int> channel;
};

struct future_wait : operation_case {
  explicit future_wait(io_context& c) : context(c) {}
  void start(probe p) override {
    if (future.valid()) {
      promise = weft::promise<void>(context.get_executor());
      is_satisfied = false;
    }
    future = promise.get_future();
    future.async_wait(std::move(p));
  }
  void satisfy() override {
    if (!is_satisfied)
      promise.set_value();
    is_satisfied = true;
  }

  io_context& context;
  weft::promise<void> promise{context.get_executor()};
  weft::future<void> future;
  bool is_satisfied = false;
};

struct shared_mutex_lock_shared : exclusive_lock<weft::async_shared_mutex> {
  using exclusive_lock::exclusive_lock;
  void start(probe p) override { mutex.async_lock_shared(std::move(p)); }
  void satisfy() override {
    if (is_exclusive)
      mutex.unlock();
    else
      mutex.unlock_shared();
    is_exclusive = false;
  }

  bool is_exclusive = true;
};

/// A latch opens once: each wait has one of its own.
struct latch_wait : operation_case {
  explicit latch_wait(io_context& c) : context(c), latch(std::in_place, c, 1u) {}
  void start(probe p) override {
    if (has_waited && is_open) {
      latch.emplace(context, 1u);
      is_open = false;
    }
    has_waited = true;
    latch->async_wait(std::move(p));
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

/// One that has been cancelled has arrived nevertheless: each has a barrier of its own.
struct barrier_arrive : operation_case {
  explicit barrier_arrive(io_context& c) : context(c), barrier(std::in_place, c, 2u) {}
  void start(probe p) override {
    barrier.emplace(context, 2u);
    is_awaited = true;
    barrier->async_arrive_and_wait(std::move(p));
  }
  void satisfy() override {
    if (is_awaited)
      barrier->arrive(1);
    is_awaited = false;
  }
  void cancel() override { barrier->cancel(); }

  io_context& context;
  std::optional<weft::async_barrier> barrier;
  bool is_awaited = false;
};

struct broadcast_receive : operation_case {
  explicit broadcast_receive(io_context& c) : broadcast(c, 64), receiver(broadcast) {}
  void start(probe p) override { receiver.async_receive(std::move(p)); }
  void satisfy() override { broadcast.send(1); }
  void cancel() override { receiver.cancel(); }

  weft::broadcast<int> broadcast;
  weft::broadcast<int>::receiver receiver;
};

struct watch_change : operation_case {
  explicit watch_change(io_context& c) : watch(c, 1), known(watch.version()) {}
  void start(probe p) override {
    const std::uint64_t before = known;
    known = watch.version();
    watch.async_changed(before, std::move(p));
  }
  void satisfy() override { watch.set(2); }
  void cancel() override { watch.cancel(); }

  weft::watch<int> watch;
  std::uint64_t known;
};

struct oneshot_receive : operation_case {
  explicit oneshot_receive(io_context& c) : context(c) {}
  void start(probe p) override {
    if (has_waited)
      ends = weft::make_oneshot<int>(context.get_executor());
    has_waited = true;
    ends.receiver.async_receive(std::move(p));
  }
  void satisfy() override { ends.sender.send(1); }
  void cancel() override { ends.receiver.cancel(); }

  io_context& context;
  weft::oneshot_ends<int, weft::sharing::concurrent, io_context::executor_type> ends =
      weft::make_oneshot<int>(context.get_executor());
  bool has_waited = false;
};

struct select_of_channels : operation_case {
  explicit select_of_channels(io_context& c) : first(c, 1), second(c, 1) {}
  void start(probe p) override {
    weft::async_select(weft::on_receive(first), weft::on_receive(second), std::move(p));
  }
  void satisfy() override { second.try_send(1); }
  void cancel() override { first.cancel(); }

  weft::channel<int> first, second;
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
  void start(probe p) override { queue.async_write(std::string("y"), std::move(p)); }
};

struct write_queue_room : on_full_write_queue {
  using on_full_write_queue::on_full_write_queue;
  void start(probe p) override { queue.async_wait_writable(std::move(p)); }
};

}  // namespace

std::span<const operation_family> sync_operation_families() {
  constexpr bool pends = true, satisfiable = true, cancels = true;
  constexpr bool no = false;
  static const std::vector<operation_family> families{
      {"mutex_lock", pends, satisfiable, cancels, no, make<exclusive_lock<weft::async_mutex>>},
      {"semaphore_acquire", pends, satisfiable, cancels, no, make<semaphore_acquire>},
      {"event_wait", pends, satisfiable, cancels, no, make<event_wait>},
      {"condition_wait", pends, satisfiable, cancels, no, make<condition_wait>},
      {"channel_receive", pends, satisfiable, cancels, no, make<channel_receive>},
      {"channel_send", pends, satisfiable, cancels, no, make<channel_send>},
      {"future_wait", pends, satisfiable, no, no, make<future_wait>},
      {"shared_mutex_lock", pends, satisfiable, cancels, no,
       make<exclusive_lock<weft::async_shared_mutex>>},
      {"shared_mutex_lock_shared", pends, satisfiable, cancels, no, make<shared_mutex_lock_shared>},
      {"latch_wait", pends, satisfiable, cancels, no, make<latch_wait>},
      {"barrier_arrive", pends, satisfiable, cancels, no, make<barrier_arrive>},
      {"broadcast_receive", pends, satisfiable, cancels, no, make<broadcast_receive>},
      {"watch_change", pends, satisfiable, cancels, no, make<watch_change>},
      {"oneshot_receive", pends, satisfiable, cancels, no, make<oneshot_receive>},
      {"select_of_channels", pends, satisfiable, cancels, no, make<select_of_channels>},
      {"queued_write", pends, satisfiable, cancels, no, make<queued_write>},
      {"write_queue_room", pends, satisfiable, cancels, no, make<write_queue_room>},
  };
  return families;
}

}  // namespace weft_test
