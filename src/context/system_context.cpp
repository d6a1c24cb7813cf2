// SPDX-License-Identifier: BSL-1.0
#include <weft/context/system_context.hpp>

#include <mutex>

#include "context/scheduler/choose_backend.hpp"
#include "context/scheduler/scheduler.hpp"
#include "context/scheduler/thread_group.hpp"

namespace WEFT_NAMESPACE {

struct system_context::state {
  std::once_flag started;
  std::mutex mutex;  // guards group
  detail::thread_group group;
};

namespace detail {

void start_system_threads() {
  system_context& context = system_context_instance();
  system_context::state& state = *context.state_;
  std::call_once(state.started, [&] {
    const std::lock_guard lock(state.mutex);
    state.group.start(thread_group::default_size(), context.scheduler_);
  });
}

}  // namespace detail

namespace {

detail::scheduler_options options() {
  detail::scheduler_options result;
  result.backend = detail::choose_backend(backend_kind::automatic);
  result.begin = &detail::start_system_threads;
  return result;
}

}  // namespace

system_context::system_context()
    : scheduler_(make_service<detail::scheduler>(*this, options())), state_(new state) {
  scheduler_.work_started();
}

system_context::~system_context() {
  stop();
  join();
  shutdown();
  delete state_;
}

void system_context::stop() {
  scheduler_.stop();
}

bool system_context::stopped() const noexcept {
  return scheduler_.stopped();
}

void system_context::join() {
  const std::lock_guard lock(state_->mutex);
  state_->group.join();
}

namespace detail {

system_context& system_context_instance() {
  static system_context instance;
  return instance;
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
