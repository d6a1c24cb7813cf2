// SPDX-License-Identifier: BSL-1.0
#include "io/signal/registry.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include <weft/base/error.hpp>

#include "base/never_destroyed.hpp"
#include "io/signal/service.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

int native_flags(signal_set_base::flags flags) noexcept {
  using enum signal_set_base::flags;
  if (flags == dont_care)
    return SA_RESTART;
  return ((flags & restart) != none ? SA_RESTART : 0) |
         ((flags & no_child_stop) != none ? SA_NOCLDSTOP : 0) |
         ((flags & no_child_wait) != none ? SA_NOCLDWAIT : 0);
}

}  // namespace

constinit never_destroyed<signal_registry> the_registry;

void signal_registry::hold_around_forks() noexcept {
  const auto unlock = [] { get().mutex_.unlock(); };
  ::pthread_atfork([] { get().mutex_.lock(); }, unlock, unlock);
}

signal_registry& signal_registry::get() noexcept {
  return the_registry.object;
}

// ---- raising

void signal_registry::raised(int signal_number) noexcept {
  const int saved = errno;
  counts_[signal_number].fetch_add(1, std::memory_order_relaxed);
  for (signal_bell* bell = bells_.load(std::memory_order_acquire); bell; bell = bell->next) {
    if (bell->in_use.load(std::memory_order_relaxed)) {
      const eventfd_t one = 1;
      [[maybe_unused]] const ssize_t n =
          ::write(bell->fd.load(std::memory_order_relaxed), &one, sizeof(one));
    }
  }
  errno = saved;
}

signal_bell* signal_registry::take_bell(error_code& ec) noexcept {
  const std::lock_guard lock(mutex_);
  renew_bells();
  for (signal_bell* bell = bells_.load(std::memory_order_relaxed); bell; bell = bell->next) {
    if (!bell->in_use.load(std::memory_order_relaxed)) {
      bell->in_use.store(true, std::memory_order_relaxed);
      return bell;
    }
  }
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) {
    ec = errno_code(errno);
    return nullptr;
  }
  auto* bell = new (std::nothrow) signal_bell;
  if (!bell) {
    ::close(fd);
    ec = error::no_memory;
    return nullptr;
  }
  bell->fd.store(fd, std::memory_order_relaxed);
  bell->in_use.store(true, std::memory_order_relaxed);
  bell->next = bells_.load(std::memory_order_relaxed);
  bells_.store(bell, std::memory_order_release);
  return bell;
}

void signal_registry::return_bell(signal_bell& bell) noexcept {
  const std::lock_guard lock(mutex_);
  bell.in_use.store(false, std::memory_order_relaxed);
}

void signal_registry::after_fork() noexcept {
  const std::lock_guard lock(mutex_);
  renew_bells();
}

/// In the child of a fork all are its parent's, also those that no context has: of what rings two
/// processes each may take the other's signals.
void signal_registry::renew_bells() noexcept {
  if (process_.is_here())
    return;
  process_.move_here();
  for (signal_bell* bell = bells_.load(std::memory_order_relaxed); bell; bell = bell->next) {
    // If there is no descriptor to be had, the old one serves: the processes wake each other.
    if (const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); fd >= 0) {
      // Under the same number: another thread's signal handler may be about to write to it.
      ::dup3(fd, bell->fd.load(std::memory_order_relaxed), O_CLOEXEC);
      ::close(fd);
    }
  }
}

error_code signal_registry::install(int signal_number, signal_set_base::flags flags) noexcept {
  entry& e = entries_[signal_number];
  struct sigaction action{};
  action.sa_handler = &signal_registry::raised;
  action.sa_flags = native_flags(flags);
  ::sigfillset(&action.sa_mask);
  struct sigaction previous{};
  if (::sigaction(signal_number, &action, &previous) != 0)
    return errno_code(errno);
  if (!e.first)
    e.previous = previous;
  e.flags = flags;
  return {};
}

void signal_registry::uninstall(int signal_number) noexcept {
  entry& e = entries_[signal_number];
  struct sigaction current{};
  ::sigaction(signal_number, nullptr, &current);
  if (current.sa_handler == &signal_registry::raised)
    ::sigaction(signal_number, &e.previous, nullptr);
  e.flags = signal_set_base::flags::dont_care;
  counts_[signal_number].store(0, std::memory_order_relaxed);
}

// ---- sets

void signal_registry::attach(signal_set_state& set) noexcept {
  const std::lock_guard lock(mutex_);
  signal_service& service = *set.service_;
  set.next_ = service.sets_;
  if (set.next_)
    set.next_->prev_ = &set;
  service.sets_ = &set;
}

void signal_registry::detach(signal_set_state& set) noexcept {
  const std::lock_guard lock(mutex_);
  deliver();
  while (signal_wait_operation* op = set.first_)
    complete(op, error::operation_aborted, 0);
  remove_all(set);
  if (!set.service_)
    return;
  if (set.next_)
    set.next_->prev_ = set.prev_;
  *(set.prev_ ? &set.prev_->next_ : &set.service_->sets_) = set.next_;
}

error_code signal_registry::add(signal_set_state& set, int signal_number,
                                signal_set_base::flags flags) noexcept {
  using enum signal_set_base::flags;
  if (signal_number <= 0 || signal_number >= signal_count)
    return error::invalid_argument;
  const std::lock_guard lock(mutex_);
  deliver();  // what was raised before is not for this set
  signal_registration** place = &set.registrations_;
  while (*place && (*place)->signal_number < signal_number)
    place = &(*place)->next;
  const bool is_member = *place && (*place)->signal_number == signal_number;

  entry& e = entries_[signal_number];
  if (e.first && flags != dont_care && e.flags != dont_care && e.flags != flags)
    return error::invalid_argument;
  signal_registration* added = nullptr;
  if (!is_member) {
    added = new (std::nothrow) signal_registration{signal_number, &set};
    if (!added)
      return error::no_memory;
  }
  if (!e.first || (flags != dont_care && e.flags == dont_care)) {
    if (const error_code ec = install(signal_number, flags)) {
      delete added;
      return ec;
    }
  }
  if (added) {
    added->next = *place;
    *place = added;
    added->other = std::exchange(e.first, added);
  }
  return {};
}

void signal_registry::drop(signal_registration* registration) noexcept {
  entry& e = entries_[registration->signal_number];
  signal_registration** link = &e.first;
  while (*link != registration)
    link = &(*link)->other;
  *link = registration->other;
  if (!e.first)
    uninstall(registration->signal_number);
  delete registration;
}

error_code signal_registry::remove(signal_set_state& set, int signal_number) noexcept {
  if (signal_number <= 0 || signal_number >= signal_count)
    return error::invalid_argument;
  const std::lock_guard lock(mutex_);
  deliver();
  for (signal_registration** link = &set.registrations_; *link; link = &(*link)->next) {
    if ((*link)->signal_number == signal_number) {
      drop(std::exchange(*link, (*link)->next));
      break;
    }
  }
  return {};
}

void signal_registry::remove_all(signal_set_state& set) noexcept {
  while (signal_registration* registration = set.registrations_) {
    set.registrations_ = registration->next;
    drop(registration);
  }
}

void signal_registry::clear(signal_set_state& set) noexcept {
  const std::lock_guard lock(mutex_);
  deliver();
  remove_all(set);
}

void signal_registry::cancel(signal_set_state& set) noexcept {
  const std::lock_guard lock(mutex_);
  deliver();
  while (signal_wait_operation* op = set.first_)
    complete(op, error::operation_aborted, 0);
}

// ---- waits

void signal_registry::start(signal_set_state& set, signal_wait_operation* op) noexcept {
  std::unique_lock lock(mutex_);
  if (!set.service_) {
    lock.unlock();
    op->destroy();
    return;
  }
  scheduler_work_started(op->owner());
  deliver();
  if (op->state_ == signal_wait_operation::state::cancelled_early) {
    queue(op, error::operation_aborted, 0);
    return;
  }
  if (int signal_number = 0; take_notification(set, signal_number)) {
    queue(op, {}, signal_number);
    return;
  }
  op->state_ = signal_wait_operation::state::waiting;
  op->set_ = &set;
  op->prev_ = set.last_;
  *(set.last_ ? &set.last_->next_ : &set.first_) = op;
  set.last_ = op;
  set.service_->wait_began();
}

void signal_registry::cancel(signal_wait_operation* op) noexcept {
  using state = signal_wait_operation::state;
  const std::lock_guard lock(mutex_);
  deliver();
  if (op->state_ == state::waiting)
    complete(op, error::operation_aborted, 0);
  else if (op->state_ == state::fresh)
    op->state_ = state::cancelled_early;
}

void signal_registry::deliver() noexcept {
  for (int signal_number = 1; signal_number != signal_count; ++signal_number) {
    if (counts_[signal_number].load(std::memory_order_relaxed) == 0)
      continue;
    const unsigned count = counts_[signal_number].exchange(0, std::memory_order_relaxed);
    for (signal_registration* r = entries_[signal_number].first; r; r = r->other) {
      r->undelivered += count;
      int number = 0;
      while (r->set->first_ && take_notification(*r->set, number))
        complete(r->set->first_, {}, number);
    }
  }
}

bool signal_registry::take_notification(signal_set_state& set, int& signal_number) noexcept {
  for (signal_registration* r = set.registrations_; r; r = r->next) {
    if (r->undelivered != 0) {
      --r->undelivered;
      signal_number = r->signal_number;
      return true;
    }
  }
  return false;
}

void signal_registry::unlink(signal_wait_operation* op) noexcept {
  signal_set_state& set = *op->set_;
  *(op->prev_ ? &op->prev_->next_ : &set.first_) = op->next_;
  *(op->next_ ? &op->next_->prev_ : &set.last_) = op->prev_;
}

/// Ends a wait that has been waiting.
void signal_registry::complete(signal_wait_operation* op, const error_code& ec,
                               int signal_number) noexcept {
  signal_service& service = *op->set_->service_;
  unlink(op);
  service.wait_ended();
  queue(op, ec, signal_number);
}

/// Queues a wait that is over. With the lock held, so that its context cannot end meanwhile.
void signal_registry::queue(signal_wait_operation* op, const error_code& ec,
                            int signal_number) noexcept {
  op->state_ = signal_wait_operation::state::queued;
  op->ec_ = ec;
  op->signal_number_ = signal_number;
  scheduler_complete(op->owner(), op);
}

void signal_registry::withdraw(signal_set_state& set, operation_queue& out) noexcept {
  while (signal_wait_operation* op = set.first_) {
    unlink(op);
    out.push(op);
  }
}

}  // namespace WEFT_NAMESPACE::detail
