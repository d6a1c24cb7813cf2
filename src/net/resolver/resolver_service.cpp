// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/resolver_service.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <unistd.h>

#include <weft/base/error.hpp>
#include <weft/io/wait_traits.hpp>

#include "net/resolver/lookup_timeout.hpp"
#include "net/resolver/resolve_now.hpp"
#include "net/resolver/socket_wait.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

using clock = std::chrono::steady_clock;
using steady = timer_clock_of<clock, wait_traits<clock>>;

}  // namespace

resolver_service& use_resolver_service(execution_context& context) {
  return use_service<resolver_service>(context);
}

std::uint64_t new_resolver_id(resolver_service& service) noexcept {
  return service.new_id();
}

void cancel_lookups(resolver_service& service, std::uint64_t resolver_id) noexcept {
  service.cancel(resolver_id);
}

resolve_answer resolve_now(resolver_service& service, resolve_request request) {
  return resolve_now(std::move(request), service.options());
}

resolve_operation::resolve_operation(function f, resolver_service& service,
                                     std::uint64_t resolver_id, resolve_request request)
    : operation(f),
      service_(&service),
      scheduler_(&service.owner()),
      resolver_id_(resolver_id),
      lookup_(new pending_lookup(service, std::move(request))) {}

resolve_operation::~resolve_operation() {
  delete lookup_;
}

bool resolve_operation::start() noexcept {
  return service_->start(this);
}

void resolve_operation::cancel() noexcept {
  service_->cancel(this);
}

resolver_service::resolver_service(execution_context& context)
    : service(context),
      scheduler_(use_scheduler(context)),
      timer_(use_timer_service(context), steady::value),
      timer_expiry_(never) {}

ip::resolver_options resolver_service::options() {
  const std::lock_guard lock(mutex_);
  return options_;
}

void resolver_service::set_options(const ip::resolver_options& options) {
  const std::lock_guard lock(mutex_);
  options_ = options;
}

void resolver_service::shutdown() {
  operation_queue ended;  // destroyed at the end, unlocked: their handlers may own resolvers
  const std::lock_guard lock(mutex_);
  is_shut_down_ = true;
  while (pending_ != nullptr)
    abort(*pending_, error::operation_aborted);
  ended.splice(finished_);
  channel_.close();
  timer_.cancel();
}

void resolver_service::notify_fork(execution_context::fork_event event) {
  if (event != execution_context::fork_child)
    return;
  // The sockets are the parent's as well, and answers on them may be. New ones ask again.
  operation_queue finished;
  {
    const std::lock_guard lock(mutex_);
    for (resolve_operation* op = pending_; op != nullptr; op = op->after_)
      op->lookup_->to_restart = true;
    channel_.close();
    resolve_operation* next = nullptr;
    for (resolve_operation* op = pending_; op != nullptr; op = next) {
      next = op->after_;
      if (const error_code ec = ask(*op->lookup_))
        abort(*op, ec);
    }
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
}

bool resolver_service::start(resolve_operation* op) noexcept {
  pending_lookup& lookup = *op->lookup_;
  try {
    if (lookup.prepare()) {
      op->answer_ = std::move(lookup.answer);
      return true;
    }
  } catch (const std::bad_alloc&) {
    op->answer_.ec = error::no_memory;
    return true;
  }
  operation_queue finished;
  {
    std::unique_lock lock(mutex_);
    if (is_shut_down_) {
      lock.unlock();
      op->destroy();
      return false;
    }
    scheduler_work_started(scheduler_);
    op->after_ = pending_;
    if (pending_ != nullptr)
      pending_->before_ = op;
    pending_ = op;
    op->state_ = resolve_operation::state::pending;
    lookup.op = op;
    if (op->cancelled_)
      abort(*op, error::operation_aborted);
    else if (const error_code ec = ask(lookup))
      abort(*op, ec);
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
  return false;
}

void resolver_service::cancel(resolve_operation* op) noexcept {
  operation_queue finished;
  {
    const std::lock_guard lock(mutex_);
    op->cancelled_ = true;
    if (op->state_ != resolve_operation::state::pending)
      return;
    abort(*op, error::operation_aborted);
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
}

std::size_t resolver_service::pending() noexcept {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const resolve_operation* op = pending_; op != nullptr; op = op->after_)
    ++count;
  return count;
}

void resolver_service::cancel(std::uint64_t resolver_id) noexcept {
  operation_queue finished;
  {
    const std::lock_guard lock(mutex_);
    resolve_operation* next = nullptr;
    for (resolve_operation* op = pending_; op != nullptr; op = next) {
      next = op->after_;
      if (op->resolver_id_ == resolver_id)
        abort(*op, error::operation_aborted);
    }
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
}

void resolver_service::on_ready(std::uint64_t serial, io_queue direction,
                                const error_code& ec) noexcept {
  operation_queue finished;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(sockets_.begin(), sockets_.end(),
                                    [=](const socket& s) { return s.serial == serial; });
    if (found == sockets_.end())
      return;
    found->waiting(direction) = false;
    found->failed = static_cast<bool>(ec);
    if (!ec)
      channel_.process(direction == io_queue::read ? found->fd : -1,
                       direction == io_queue::write ? found->fd : -1);
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
}

void resolver_service::on_timeout() noexcept {
  operation_queue finished;
  {
    const std::lock_guard lock(mutex_);
    timer_expiry_ = never;
    if (channel_.is_open())
      channel_.process(-1, -1);
    update(finished);
  }
  scheduler_complete(scheduler_, finished);
}

error_code resolver_service::ask(pending_lookup& lookup) noexcept {
  if (!channel_.is_open())
    if (const error_code ec = channel_.open(options_, &on_socket, &on_close, this))
      return ec;
  lookup.is_asked = true;
  lookup.start(channel_, &on_finished);
  return {};
}

void resolver_service::unlink(resolve_operation& op) noexcept {
  (op.before_ != nullptr ? op.before_->after_ : pending_) = op.after_;
  if (op.after_ != nullptr)
    op.after_->before_ = op.before_;
}

void resolver_service::finish(resolve_operation& op) noexcept {
  unlink(op);
  op.state_ = resolve_operation::state::finished;
  finished_.push(&op);
}

void resolver_service::abort(resolve_operation& op, const error_code& ec) noexcept {
  op.answer_.ec = ec;
  if (op.lookup_->is_asked)
    std::exchange(op.lookup_, nullptr)->op = nullptr;
  finish(op);
}

void resolver_service::update(operation_queue& finished) noexcept {
  arm();
  finished.splice(finished_);
}

void resolver_service::arm() noexcept {
  try {
    if (pending_ != nullptr) {
      arm_sockets();
      arm_timer();
      return;
    }
  } catch (const std::bad_alloc&) {
    while (pending_ != nullptr)
      abort(*pending_, error::no_memory);
  }
  channel_.close();
  timer_.cancel();
  timer_expiry_ = never;
}

void resolver_service::arm_sockets() {
  for (socket& s : sockets_)
    for (const io_queue direction : {io_queue::read, io_queue::write}) {
      const bool wanted = direction == io_queue::read ? s.wants_read : s.wants_write;
      if (wanted && !s.waiting(direction) && !s.failed) {
        socket_wait::start(s.handle, *this, s.serial, direction);
        s.waiting(direction) = true;
      }
    }
}

void resolver_service::arm_timer() {
  const int delay = channel_.timeout_ms();
  if (delay < 0)
    return;
  constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;
  const std::int64_t expiry = steady::now() + delay * nanoseconds_per_millisecond;
  if (timer_expiry_ <= expiry)
    return;
  timer_.expires_at(expiry);
  timer_expiry_ = never;
  lookup_timeout::start(timer_, *this);
  timer_expiry_ = expiry;
}

resolver_service::socket* resolver_service::find(int fd) noexcept {
  for (socket& s : sockets_)
    if (s.fd == fd)
      return &s;
  return nullptr;
}

void resolver_service::on_finished(dns_lookup& base) {
  auto& lookup = static_cast<pending_lookup&>(base);
  lookup.is_asked = false;
  if (std::exchange(lookup.to_restart, false)) {
    lookup.answer.ec = {};
    return;
  }
  if (lookup.op == nullptr) {
    delete &lookup;
    return;
  }
  lookup.op->answer_ = std::move(lookup.answer);
  lookup.service.finish(*lookup.op);
}

void resolver_service::on_socket(void* pointer, int fd, bool read, bool write) {
  auto& self = *static_cast<resolver_service*>(pointer);
  socket* s = self.find(fd);
  try {
    if (s == nullptr && (read || write)) {
      s = &self.sockets_.emplace_back(self.context(), fd, ++self.last_serial_);
      if (s->handle.assign(fd)) {
        self.sockets_.pop_back();
        s = nullptr;
      }
    }
  } catch (const std::exception&) {
    s = nullptr;  // a socket without a handle: its lookups run into their timeouts
  }
  if (s != nullptr) {
    s->wants_read = read;
    s->wants_write = write;
  }
}

void resolver_service::on_close(void* pointer, int fd) {
  auto& self = *static_cast<resolver_service*>(pointer);
  if (self.find(fd) == nullptr)
    ::close(fd);
  else
    self.sockets_.remove_if([fd](const socket& s) { return s.fd == fd; });
}

}  // namespace WEFT_NAMESPACE::detail

void WEFT_NAMESPACE::ip::set_resolver_options(execution_context& context,
                                              const resolver_options& options) {
  detail::use_resolver_service(context).set_options(options);
}
