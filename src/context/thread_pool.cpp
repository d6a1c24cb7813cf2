// SPDX-License-Identifier: BSL-1.0
#include <weft/context/thread_pool.hpp>

#include "context/scheduler/choose_backend.hpp"
#include "context/scheduler/scheduler.hpp"
#include "context/scheduler/thread_group.hpp"

namespace WEFT_NAMESPACE {

struct thread_pool::workers {
  detail::thread_group group;
  bool guarded = true;  // the pool counts as work until it is joined
};

thread_pool::thread_pool() : thread_pool(default_threads()) {}

thread_pool::thread_pool(std::size_t num_threads) : scheduler_(make_scheduler()) {
  start(num_threads);
}

thread_pool::thread_pool(std::size_t num_threads, const service_maker& initial_services)
    : execution_context(initial_services), scheduler_(make_scheduler()) {
  start(num_threads);
}

thread_pool::~thread_pool() {
  end();
  shutdown();
}

std::size_t thread_pool::default_threads() noexcept {
  return detail::thread_group::default_size();
}

detail::scheduler& thread_pool::make_scheduler() {
  detail::scheduler_options options;
  options.backend = detail::choose_backend(backend_kind::automatic);
  return make_service<detail::scheduler>(*this, options);
}

void thread_pool::start(std::size_t count) {
  workers_ = new workers;
  num_threads_ = count;
  scheduler_.work_started();
  try {
    workers_->group.start(count, scheduler_);
  } catch (...) {
    end();
    throw;
  }
}

void thread_pool::end() noexcept {
  scheduler_.stop();
  workers_->group.join();
  delete workers_;
}

thread_pool::executor_type thread_pool::get_executor() noexcept {
  return executor_type(this, {});
}

void thread_pool::attach() {
  scheduler_.run();
}

void thread_pool::stop() {
  scheduler_.stop();
}

void thread_pool::join() {
  if (std::exchange(workers_->guarded, false))
    scheduler_.work_finished();
  workers_->group.join();
}

}  // namespace WEFT_NAMESPACE
