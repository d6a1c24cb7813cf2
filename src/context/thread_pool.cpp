// SPDX-License-Identifier: BSL-1.0
#include <weft/context/thread_pool.hpp>

#include <utility>

#include "context/scheduler/choose_backend.hpp"
#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE {

thread_pool::thread_pool() : thread_pool(default_threads()) {}

thread_pool::thread_pool(std::size_t num_threads) : scheduler_(make_scheduler()) {
  start(num_threads);
}

thread_pool::thread_pool(std::size_t num_threads, const service_maker& initial_services)
    : execution_context(initial_services), scheduler_(make_scheduler()) {
  start(num_threads);
}

thread_pool::~thread_pool() {
  if (scheduler_.is_here())
    scheduler_.stop();  // attached threads too
  scheduler_.stop_threads();
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
  num_threads_ = count;
  scheduler_.work_started();
  scheduler_.start_threads(count);
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
  if (!scheduler_.is_here())
    return;
  if (std::exchange(is_guarded_, false))
    scheduler_.work_finished();
  scheduler_.join_threads();
}

}  // namespace WEFT_NAMESPACE
