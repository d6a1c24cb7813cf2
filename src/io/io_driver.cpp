// SPDX-License-Identifier: BSL-1.0
#include "io/io_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/stream_source.hpp"

namespace WEFT_NAMESPACE::detail {

io_driver::io_driver(execution_context& context)
    : service(context),
      io_driver_base(use_scheduler(context)),
      timers_(
          scheduler_, [](void* self) { static_cast<io_driver*>(self)->wake(); }, this),
      pool_([](void* self) noexcept { static_cast<io_driver*>(self)->wake(); }, this),
      buffers_(stream_buffer_pool::make()) {
  const scheduler_options& options = scheduler_.options();
  const bool uring = options.backend == backend_kind::uring;
  backend_ = uring ? make_uring_backend(*this, options) : make_epoll_backend(*this);
  anonymous_.driver = this;
  never_open_.driver = this;
  anonymous_.closed = false;
  anonymous_.pollable = false;
}

io_driver::~io_driver() {
  while (io_object_block* block = blocks_) {
    blocks_ = block->next;
    delete block;
  }
}

template <class F>
void io_driver::for_each_object(F f) {
  for (io_object_block* block = blocks_; block; block = block->next)
    for (io_object& object : block->objects)
      f(object);
}

/// Those there are, closed ones too; they stay valid.
std::vector<io_object*> io_driver::all_objects() {
  std::vector<io_object*> all{&anonymous_};
  const std::lock_guard lock(mutex_);
  for_each_object([&](io_object& object) { all.push_back(&object); });
  return all;
}

void io_driver::shutdown() {
  scheduler_.stop_threads();
  scheduler_.set_driver(nullptr);
  operation_queue ended;  // destroyed at the end: their handlers may own the very objects
  const auto end = [&](io_object& object) {
    const int fd = release(object, ended);
    if (fd >= 0)
      ::close(fd);
  };
  end(anonymous_);
  for_each_object(end);
  pool_.shutdown();
  timers_.shutdown(ended);
}

void io_driver::notify_fork(execution_context::fork_event event) {
  switch (event) {
    case execution_context::fork_prepare: pool_.fork_prepare(); break;
    case execution_context::fork_parent:
      pool_.fork_parent();
      note_shared();
      break;
    case execution_context::fork_child: {
      pool_.fork_child();
      note_shared();
      backend_->restart();
      if (poll_set_)
        poll_set_->restart(backend_->native_handle());
      buffers_->restart(*backend_);
      pool_.begin_again();  // helpers wake the backend
      operation_queue ready;
      begin_again(anonymous_, ready);
      for_each_object([&](io_object& object) {
        if (!object.closed)
          begin_again(object, ready);
      });
      scheduler_.complete(ready);
      break;
    }
  }
}

/// After a fork, in both processes: either may still use what is open when the other closes it.
void io_driver::note_shared() noexcept {
  for_each_object([](io_object& object) {
    object.flags.fetch_or(io_handle::shared, std::memory_order_relaxed);
  });
}

/// In the child of a fork: the sources rest, until their consumers begin them again.
void io_driver::forget_sources(io_object& object) noexcept {
  io_operation* next = nullptr;
  for (io_operation* op = object.list(io_queue::concurrent).front(); op; op = next) {
    next = io_operation_list::after(op);
    if (op->kind().feed) {
      object.list(io_queue::concurrent).erase(op);
      op->state_ = io_operation::state::fresh;
      op->cancelled_ = false;
      detail::release(static_cast<stream_source&>(*op));
    }
  }
}

/// In the child of a fork: what the kernel had for the parent is submitted anew.
void io_driver::begin_again(io_object& object, operation_queue& ready) noexcept {
  object.submitted.store(0, std::memory_order_relaxed);
  if (&object != &anonymous_)
    backend_->attach(object);
  forget_sources(object);
  for (int i = 0; i != io_object::queue_count; ++i) {
    const auto queue = static_cast<io_queue>(i);
    io_operation* next = nullptr;
    for (io_operation* op = object.list(queue).front(); op; op = next) {
      next = io_operation_list::after(op);
      if (op->state_ == io_operation::state::submitted && !op->pooled_) {
        op->state_ = io_operation::state::queued;
        op->polled_ = false;
        if (op->cancelled_) {
          op->fail(ECANCELED);
          object.list(queue).erase(op);
          op->state_ = io_operation::state::finished;
          ready.push(op);
          continue;
        }
        if (queue == io_queue::concurrent)
          submit(object, op, ready);
      }
    }
    if (queue != io_queue::concurrent)
      submit_front(object, queue, ready);
  }
}

bool io_driver::poll(std::int64_t timeout, operation_queue& ready) noexcept {
  if (timeout != 0)
    timeout = std::min(timeout, prepare_wait());
  backend_->poll(timeout, ready);
  operation_queue results;
  pool_.after_sleep(results);
  performed(results, ready);
  timers_.finish_wait();
  const bool more = timers_.collect(ready);
  if (held_.load())
    end_held(ready);
  return more || backend_->has_more();
}

/// How long a sleep that begins may last.
std::int64_t io_driver::prepare_wait() noexcept {
  if (backend_->has_more())
    return 0;
  const std::int64_t wait = std::min(timers_.prepare_wait(), pool_.before_sleep());
  return held_.load() ? std::min(wait, shortage_tick) : wait;
}

void io_driver::arm() noexcept {
  backend_->flush();
  poll_set_->ready_in(prepare_wait());
}

void io_driver::disarm() noexcept {
  poll_set_->ready_in(forever);
}

int io_driver::poll_descriptor() {
  const std::lock_guard lock(mutex_);
  if (!poll_set_) {
    poll_set_.emplace(backend_->native_handle());
    scheduler_.serve_foreign_loop();
  }
  return poll_set_->get();
}

bool io_driver::quiet() const noexcept {
  return open_objects_.load(std::memory_order_relaxed) == 0 &&
         anonymous_.submitted.load(std::memory_order_relaxed) == 0 && !pool_.pending() &&
         timers_.empty();
}

io_driver& use_io_driver(execution_context& context) {
  auto& driver = use_service<io_driver>(context);
  driver.serve();
  return driver;
}

scheduler& driver_scheduler(io_driver& driver) noexcept {
  return driver.owner();
}

timer_service& use_timer_service(execution_context& context) {
  return use_io_driver(context).timers();
}

}  // namespace WEFT_NAMESPACE::detail
