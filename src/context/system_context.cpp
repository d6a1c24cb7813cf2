// SPDX-License-Identifier: BSL-1.0
#include <weft/context/system_context.hpp>

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/fork_order.hpp"
#include "context/scheduler/choose_backend.hpp"
#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE {

namespace {

// Held to make the context and to start its threads.
constinit std::mutex making;
constinit std::atomic<system_context*> made{nullptr};
constinit std::atomic<bool> started{false};
// Guards the threads. It is not waited for by a fork, for a thread that is joined may fork.
constinit std::mutex joining;

[[gnu::constructor(detail::fork_contexts)]] void hold_around_forks() noexcept {
  ::pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                   [] {
                     making.unlock();
                     std::construct_at(&joining);
                   });
}

detail::scheduler_options options() {
  detail::scheduler_options result;
  result.backend = detail::choose_backend(backend_kind::automatic);
  result.begin = &detail::start_system_threads;
  return result;
}

}  // namespace

system_context::system_context() : scheduler_(make_service<detail::scheduler>(*this, options())) {
  scheduler_.work_started();
}

system_context::~system_context() {
  shutdown();
}

void system_context::stop() {
  scheduler_.stop();
}

bool system_context::stopped() const noexcept {
  return scheduler_.stopped();
}

void system_context::join() {
  const std::lock_guard lock(joining);
  scheduler_.join_threads();
}

namespace detail {

system_context& system_context_instance() {
  if (system_context* const instance = made.load(std::memory_order_acquire)) [[likely]]
    return *instance;
  const std::lock_guard lock(making);
  if (!made.load(std::memory_order_relaxed)) {
    struct owner {
      ~owner() {
        // What was begun in the parent of a fork is not this process's to end.
        if (!context->scheduler_.is_here())
          return;
        std::unique_lock lock(joining, std::try_to_lock);
        if (lock) {
          context->scheduler_.stop_threads_at_exit();
          lock.unlock();
          delete context;
        } else {  // who joins the threads may wait for the one that ends the process
          context->stop();
        }
      }
      system_context* const context = new system_context;
    };
    static const owner instance;
    made.store(instance.context, std::memory_order_release);
  }
  return *made.load(std::memory_order_relaxed);
}

void start_system_threads() {
  system_context& context = system_context_instance();
  if (started.load(std::memory_order_acquire)) [[likely]]
    return;
  const std::lock_guard lock(making);
  if (!started.load(std::memory_order_relaxed)) {
    const std::lock_guard threads(joining);
    context.scheduler_.start_threads(thread_group::default_size());
    started.store(true, std::memory_order_release);
  }
}

execution_context& system_execution_context() {
  return system_context_instance();
}

void system_context_post(operation* op) {
  try {
    start_system_threads();
  } catch (...) {
    op->destroy();
    throw;
  }
  system_context_instance().scheduler_.post(op);
}

std::size_t system_context_occupancy() noexcept {
  return thread_group::default_size();
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
