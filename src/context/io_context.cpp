// SPDX-License-Identifier: BSL-1.0
#include <weft/context/io_context.hpp>

#include <algorithm>

#include <weft/base/error.hpp>
#include <weft/execution/config.hpp>

#include "context/scheduler/choose_backend.hpp"
#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE {

io_context::io_context() : io_context(io_context_options{}) {}

io_context::io_context(int concurrency_hint)
    : io_context(io_context_options{.concurrency_hint = concurrency_hint}) {}

io_context::io_context(single_thread_t) : io_context(io_context_options{.single_thread = true}) {}

io_context::io_context(const io_context_options& options) : scheduler_(make_scheduler(options)) {}

io_context::io_context(const service_maker& initial_services)
    : execution_context(initial_services), scheduler_(make_scheduler({})) {}

io_context::~io_context() {
  shutdown();
}

detail::scheduler& io_context::make_scheduler(const io_context_options& options) {
  detail::scheduler_options wanted;
  wanted.single_thread = options.single_thread;
  const config configured(*this);
  wanted.membarrier = configured.get("scheduler", "membarrier", true);
  wanted.spin = options.spin;
  if (wanted.spin == wanted.spin.zero())
    wanted.spin = std::chrono::nanoseconds(configured.get("scheduler", "spin", std::int64_t(0)));
  wanted.spin =
      std::clamp<std::chrono::nanoseconds>(wanted.spin, wanted.spin.zero(), std::chrono::hours(24));
  wanted.backend = detail::choose_backend(options.backend, configured.get("backend", "kind", ""));
  auto& made = make_service<detail::scheduler>(*this, wanted);
  if (options.measure)
    made.measure(true);
  return made;
}

backend_kind io_context::backend() const noexcept {
  return scheduler_.options().backend;
}

io_context::count_type io_context::run() {
  return scheduler_.run();
}
io_context::count_type io_context::run_one() {
  return scheduler_.run_one();
}
io_context::count_type io_context::poll() {
  return scheduler_.poll();
}
io_context::count_type io_context::poll_one() {
  return scheduler_.poll_one();
}
io_context::count_type io_context::poll_until(const std::chrono::steady_clock::time_point& time) {
  return scheduler_.poll_until(time);
}

io_context::count_type io_context::run_until(const std::chrono::steady_clock::time_point& time) {
  return scheduler_.run_until(time);
}

io_context::count_type io_context::run_one_until(
    const std::chrono::steady_clock::time_point& time) {
  return scheduler_.run_one_until(time);
}

void io_context::stop() {
  scheduler_.stop();
}
bool io_context::stopped() const {
  return scheduler_.stopped();
}
void io_context::restart() {
  scheduler_.restart();
}

}  // namespace WEFT_NAMESPACE
