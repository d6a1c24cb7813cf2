// SPDX-License-Identifier: BSL-1.0
#include "coro/blocking_threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <new>

#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

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
  return std::make_exception_ptr(system_error(error::operation_aborted, "blocking"));
}

void blocking_service::shutdown() noexcept {
  blocking_threads::get().end(*this);
}

blocking_threads& blocking_threads::get() {
  alignas(blocking_threads) static std::byte memory[sizeof(blocking_threads)];
  static auto* const threads = ::new (static_cast<void*>(memory)) blocking_threads;
  return *threads;
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
  {
    const std::lock_guard lock(mutex_);
    if (call.state_ != blocking_call::state::queued)
      return;
    unlink(call);
    call.state_ = blocking_call::state::aborted;
  }
  scheduler_complete(call.owner(), &call);
}

void blocking_threads::end(blocking_service& service) noexcept {
  operation_queue dropped;
  {
    std::unique_lock lock(mutex_);
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
  std::unique_lock lock(mutex_);
  for (;;) {
    while (blocking_call* const call = front_) {
      unlink(*call);
      call->state_ = blocking_call::state::begun;
      blocking_service& service = *call->service_;
      ++service.begun_;
      lock.unlock();
      call->perform_(*call);
      scheduler_complete(call->owner(), call);
      lock.lock();
      if (--service.begun_ == 0)
        performed_.notify_all();
    }
    ++idle_;
    const bool called = wake_.wait_for(lock, idle_time, [&] { return front_ != nullptr; });
    --idle_;
    if (!called) {
      --threads_;
      return;
    }
  }
}

}  // namespace WEFT_NAMESPACE::detail
