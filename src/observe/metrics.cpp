// SPDX-License-Identifier: BSL-1.0
#include <weft/observe/metrics.hpp>

#include "context/scheduler/scheduler.hpp"
#include "io/io_driver.hpp"
#include "net/resolver/resolver_service.hpp"

namespace WEFT_NAMESPACE::observe {
namespace {

std::size_t* place_of(const detail::io_operation& op, pending_operations& pending) noexcept {
  using detail::io_activity;
  const detail::io_kind& kind = op.kind();
  switch (kind.activity) {
    case io_activity::connect: return &pending.connects;
    case io_activity::readiness: return &pending.readiness;
    case io_activity::exit: return &pending.processes;
    case io_activity::internal: return nullptr;
    case io_activity::transfer: break;
  }
  if (kind.feed)
    return nullptr;  // a stream's source; its consumers are counted
  if (kind.blocking)
    return &pending.files;
  if (kind.makes_descriptor)
    return &pending.accepts;
  return op.queue() == detail::io_queue::write ? &pending.writes : &pending.reads;
}

pending_operations count_pending(execution_context& context) {
  pending_operations pending;
  if (has_service<detail::io_driver>(context)) {
    auto& driver = use_service<detail::io_driver>(context);
    driver.for_each_pending([&](const detail::io_operation& op) {
      if (std::size_t* place = place_of(op, pending))
        ++*place;
    });
    pending.timers = driver.timers().pending();
  }
  if (has_service<detail::resolver_service>(context))
    pending.lookups = use_service<detail::resolver_service>(context).pending();
  return pending;
}

}  // namespace

metrics::metrics(execution_context& context) {
  const detail::scheduler& scheduler = detail::use_scheduler(context);
  backend = scheduler.options().backend;
  total = scheduler.look([this](const detail::worker& w) {
    workers.push_back({.id = w.id(),
                       .thread = w.thread(),
                       .is_asleep = w.is_asleep(),
                       .waiting = w.queue_length(),
                       .done = w.counts()});
  });
  for (const worker_metrics& w : workers)
    total += w.done;
  const std::uint64_t came = total.queued + total.from_outside + total.events;
  waiting = came > total.run ? came - total.run : 0;
  pending = count_pending(context);
  if (const detail::observation* o = scheduler.measured()) {
    measures = o->measures();
    const auto copy = [](const detail::shared_histogram& from, histogram& to) {
      for (std::size_t i = 0; i != histogram::bucket_count; ++i)
        to.buckets_[i] = from.bucket(i);
      to.sum_ = histogram::duration(from.sum());
      to.max_ = histogram::duration(from.max());
    };
    copy(o->queue_delay(), queue_delay);
    copy(o->run_time(), run_time);
  }
}

void measure(execution_context& context, bool on) {
  detail::use_scheduler(context).measure(on);
}

}  // namespace WEFT_NAMESPACE::observe
