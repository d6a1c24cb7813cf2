// SPDX-License-Identifier: BSL-1.0
#include "coro/blocking_threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/never_destroyed.hpp"
#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

constinit thread_local blocking_threads::server* blocking_threads::current = nullptr;

blocking_call::blocking_call(function f, scheduler& owner, perform_function perform)
    : operation(f),
      owner_(&owner),
      perform_(perform),
      service_(&use_service<blocking_service>(owner.context())) {}

bool blocking_call::start() noexcept {
  return blocking_threads::get().submit(*this);
}

void blocking_call::cancel(cancellation_type type) noexcept {
  if (type != cancellation_type::none)
    blocking_threads::get().cancel(*this);
}

std::exception_ptr blocking_call::aborted() {
  return exception_of(error::operation_aborted, "blocking");
}

void blocking_service::notify_fork(execution_context::fork_event event) {
  if (event == execution_context::fork_child)
    blocking_threads::get().go_on(*this);
}

void blocking_service::shutdown() noexcept {
  blocking_threads::get().end(*this);
}

void blocking_threads::hold_around_forks() noexcept {
  ::pthread_atfork([] { get().lock_for_fork(); }, [] { get().unlock_in_parent(); },
                   [] { get().begin_in_child(); });
}

blocking_threads& blocking_threads::get() noexcept {
  static never_destroyed<blocking_threads> threads;
  return threads.object;
}

bool blocking_threads::submit(blocking_call& call) noexcept {
  scheduler_work_started(call.owner());
  {
    const std::lock_guard lock(mutex_);
    push(call);
    if (queued_ <= idle_) {
      wake_.notify_one();
      return true;
    }
    if ((threads_ < most && start_thread()) || threads_ != 0)
      return true;
    unlink(call);
    call.state_ = blocking_call::state::begun;
  }
  scheduler_work_finished(call.owner());
  call.perform_(call);
  return false;
}

void blocking_threads::cancel(blocking_call& call) noexcept {
  const std::lock_guard lock(mutex_);
  if (call.state_ != blocking_call::state::queued)
    return;
  unlink(call);
  call.state_ = blocking_call::state::aborted;
  scheduler_complete(call.owner(), &call);  // under the lock: no fork comes between
}

void blocking_threads::end(blocking_service& service) noexcept {
  operation_queue dropped;
  {
    std::unique_lock lock(mutex_);
    take_lost(service, dropped);
    for (blocking_call* call = front_; call;) {
      blocking_call* const next = call->later_;
      if (call->service_ == &service) {
        unlink(*call);
        call->state_ = blocking_call::state::aborted;  // no cancellation finds it any more
        dropped.push(call);
      }
      call = next;
    }
    performed_.wait(lock, [&] { return service.begun_ == 0; });
  }
}

void blocking_threads::push(blocking_call& call) noexcept {
  call.state_ = blocking_call::state::queued;
  call.earlier_ = back_;
  call.later_ = nullptr;
  (back_ ? back_->later_ : front_) = &call;
  back_ = &call;
  ++queued_;
}

void blocking_threads::unlink(blocking_call& call) noexcept {
  (call.earlier_ ? call.earlier_->later_ : front_) = call.later_;
  (call.later_ ? call.later_->earlier_ : back_) = call.earlier_;
  --queued_;
}

bool blocking_threads::start_thread() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, &run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) {
    pthread_detach(thread);
    ++threads_;
  }
  return started;
}

void* blocking_threads::run(void* self) noexcept {
  static_cast<blocking_threads*>(self)->serve();
  return nullptr;
}

void blocking_threads::serve() noexcept {
  constexpr std::chrono::seconds idle_time(10);
  server self;
  current = &self;
  std::unique_lock lock(mutex_);
  self.next = std::exchange(servers_, &self);
  for (;;) {
    while (blocking_call* const call = front_) {
      unlink(*call);
      call->state_ = blocking_call::state::begun;
      self.service = call->service_;
      ++self.service->begun_;
      self.call = call;
      lock.unlock();
      call->perform_(*call);
      {
        const std::lock_guard completing(self.mutex);
        self.call = nullptr;
        scheduler_complete(call->owner(), call);
      }
      lock.lock();
      if (--std::exchange(self.service, nullptr)->begun_ == 0)
        performed_.notify_all();
    }
    ++idle_;
    const bool called = wake_.wait_for(lock, idle_time, [&] { return front_ != nullptr; });
    --idle_;
    if (!called) {
      leave(self);
      return;
    }
  }
}

void blocking_threads::leave(server& self) noexcept {
  server** at = &servers_;
  while (*at != &self)
    at = &(*at)->next;
  *at = self.next;
  current = nullptr;
  --threads_;
}

// ---- fork

void blocking_threads::lock_for_fork() noexcept {
  mutex_.lock();
  for (server* s = servers_; s; s = s->next)
    s->mutex.lock();
}

void blocking_threads::unlock_in_parent() noexcept {
  for (server* s = servers_; s; s = s->next)
    s->mutex.unlock();
  mutex_.unlock();
}

void blocking_threads::begin_in_child() noexcept {
  // The threads that waited here are not in this process, but the old condition variables still
  // count them: they are abandoned, not destroyed, for their destructors would wait for them.
  std::construct_at(&wake_);
  std::construct_at(&performed_);
  server* const forking = current;  // a call may fork
  for (server* s = servers_; s; s = s->next) {
    if (s == forking || !s->service)
      continue;
    --s->service->begun_;
    if (s->call)
      s->call->later_ = std::exchange(lost_, s->call);
  }
  servers_ = forking;
  idle_ = 0;
  threads_ = forking ? 1 : 0;
  owed_ = std::min(queued_, most);
  if (forking) {
    forking->next = nullptr;
    forking->mutex.unlock();
  }
  mutex_.unlock();
}

void blocking_threads::go_on(blocking_service& service) noexcept {
  operation_queue lost;
  {
    const std::lock_guard lock(mutex_);
    take_lost(service, lost);
    for (; owed_ != 0 && start_thread(); --owed_) {}
  }
  while (operation* const op = lost.pop()) {
    auto* const call = static_cast<blocking_call*>(op);
    scheduler_complete(call->owner(), call);
  }
}

void blocking_threads::take_lost(blocking_service& service, operation_queue& to) noexcept {
  for (blocking_call** at = &lost_; *at;) {
    blocking_call* const call = *at;
    if (call->service_ == &service) {
      *at = call->later_;
      call->state_ = blocking_call::state::aborted;
      to.push(call);
    } else {
      at = &call->later_;
    }
  }
}

}  // namespace WEFT_NAMESPACE::detail
