// SPDX-License-Identifier: BSL-1.0
#include "io/signal/service.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace WEFT_NAMESPACE::detail {
namespace {

io_status drain(io_operation& op) noexcept {
  eventfd_t count;
  if (::eventfd_read(op.fd, &count) == 0)
    return io_status::done;
  if (errno == EAGAIN || errno == EINTR)
    return io_status::again;
  op.fail(errno);
  return io_status::done;
}

constexpr io_kind watch_kind{
    .perform = &drain, .prepare = nullptr, .finish = nullptr, .activity = io_activity::internal};

}  // namespace

signal_service::watch::watch(signal_service& service) noexcept
    : status_operation(&complete, service.owner(), watch_kind, io_queue::read),
      service_(&service) {}

void signal_service::watch::complete(operation* base, action what) {
  if (what == action::describe)
    return describe<watch>(base, true);
  if (what == action::invoke)
    static_cast<watch*>(base)->service_->watched();
}

signal_service::signal_service(execution_context& context) : service(context), handle_(context) {
  error_code ec;
  bell_ = signal_registry::get().take_bell(ec);
  throw_if(ec, "signal_set");
  if ((ec = open())) {
    signal_registry::get().return_bell(*bell_);
    throw_error(ec, "signal_set");
  }
}

signal_service::~signal_service() {
  signal_registry::get().return_bell(*bell_);
}

error_code signal_service::open() noexcept {
  const int fd = ::fcntl(bell_->fd.load(std::memory_order_relaxed), F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return errno_code(errno);
  const error_code ec = handle_.assign(fd);
  if (ec)
    ::close(fd);
  return ec;
}

void signal_service::wait_began() noexcept {
  if (++waits_ == 1 && !is_watching_)
    begin_watch();
}

void signal_service::wait_ended() noexcept {
  if (--waits_ == 0 && is_watching_)
    handle_.cancel();
}

void signal_service::begin_watch() noexcept {
  if (!handle_.is_open())
    return;  // a fork left no descriptor to be had
  is_watching_ = true;
  watch_.emplace(*this);
  handle_.attach(&*watch_);
  handle_.start(&*watch_);
}

/// The bell has rung, or nobody waits any longer, or the descriptor was exchanged after a fork.
void signal_service::watched() noexcept {
  signal_registry& registry = signal_registry::get();
  const std::lock_guard lock(registry.mutex());
  registry.deliver();
  is_watching_ = false;
  if (waits_ != 0)
    begin_watch();
}

void signal_service::shutdown() {
  signal_registry& registry = signal_registry::get();
  operation_queue ended;  // destroyed at the end, unlocked: their handlers may own sets
  {
    const std::lock_guard lock(registry.mutex());
    while (signal_set_state* set = sets_) {
      sets_ = set->next_;
      registry.withdraw(*set, ended);
      set->service_ = nullptr;
    }
    waits_ = 0;
  }
  handle_.close();
}

void signal_service::notify_fork(execution_context::fork_event event) {
  if (event != execution_context::fork_child)
    return;
  signal_registry::get().after_fork();
  handle_.close();
  throw_if(open(), "signal_set");
  const std::lock_guard lock(signal_registry::get().mutex());
  signal_registry::get().deliver();
}

// ---- signal_set_state, signal_wait_operation

signal_set_state::signal_set_state(execution_context& context)
    : scheduler_(&use_scheduler(context)), service_(&use_service<signal_service>(context)) {
  signal_registry::get().attach(*this);
}

signal_set_state::~signal_set_state() {
  signal_registry::get().detach(*this);
}

error_code signal_set_state::add(int signal_number, signal_set_base::flags flags) noexcept {
  return signal_registry::get().add(*this, signal_number, flags);
}

error_code signal_set_state::remove(int signal_number) noexcept {
  return signal_registry::get().remove(*this, signal_number);
}

error_code signal_set_state::clear() noexcept {
  signal_registry::get().clear(*this);
  return {};
}

void signal_set_state::cancel() noexcept {
  signal_registry::get().cancel(*this);
}

void signal_set_state::start(signal_wait_operation* op) noexcept {
  signal_registry::get().start(*this, op);
}

void signal_wait_operation::cancel() noexcept {
  signal_registry::get().cancel(this);
}

}  // namespace WEFT_NAMESPACE::detail
