// SPDX-License-Identifier: BSL-1.0
#include "io/backend/backend.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include <weft/base/error.hpp>

#include "io/backend/native_descriptor.hpp"
#include "io/io_driver.hpp"

namespace WEFT_NAMESPACE::detail {

/// epoll(7). A descriptor is registered once, when an operation first has to wait, and stays so,
/// edge-triggered: an event means "has changed", the attempt that follows tells what there is.
///
/// **Adaptive speculation.** An attempt is made when an operation is started, unless the
/// descriptor is known to be drained (a short read, or EAGAIN, and no event since). A peer whose
/// messages fill the buffer exactly would make each such attempt after a read fail. After
/// `speculation_limit` failures in a row reading becomes level-triggered for that descriptor: then
/// no attempt is needed, the next poll tells what is left. It turns back when an event brings the
/// reader nothing (level-triggered, it would repeat for ever) or writing has to wait.
///
/// **Events** are taken from the kernel many at a time. A thread that runs the context alone, and
/// has little else to do, dispatches them few at a time, so that what an event's handlers go on to
/// do finds in the processor's caches what the kernel has just worked on. Those that wait meanwhile
/// name an object and, as it may serve another descriptor by then, which of its openings is meant.
///
/// Descriptors that epoll refuses (EPERM: regular files) are performed by helper threads.
class epoll_backend final : public backend {
 public:
  static constexpr int batch = 128;
  static constexpr int portion = 16;
  static constexpr std::uint8_t speculation_limit = 4;

  explicit epoll_backend(io_driver& driver) : driver_(driver) { restart(); }

  backend_kind kind() const noexcept override { return backend_kind::epoll; }

  void attach(io_object& object) noexcept override {
    object.interest = 0;
    object.level = false;
    std::fill(std::begin(object.ready), std::end(object.ready), true);
  }

  submitted_to submit(io_object& object, io_operation* op) noexcept override {
    if (object.level && op->queue() == io_queue::read && !op->kind().blocking)
      return submitted_to::waiting;
    if (op->kind().blocking || !object.pollable)
      return submitted_to::pool;
    std::uint32_t wanted = object.interest | EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLET;
    if (op->queue() == io_queue::write)
      wanted |= EPOLLOUT;
    const bool misses = object.misses >= speculation_limit && op->queue() == io_queue::read;
    if (!(wanted & EPOLLOUT) && (object.level || misses))
      wanted &= ~static_cast<std::uint32_t>(EPOLLET);
    // Of what it could have at once, the operation hears again if the descriptor is watched anew.
    if (wanted == object.interest && !object.is_ready(op->queue()))
      return submitted_to::waiting;
    const int error = watch(object, wanted);
    if (error == EPERM) {
      object.pollable = false;
      return submitted_to::pool;
    }
    if (error == 0)
      return submitted_to::waiting;
    op->fail(error);
    return submitted_to::failed;
  }

  bool withdraw(io_operation*) noexcept override { return true; }
  void settle(io_object&, const io_operation*) noexcept override {}

  void detach(io_object& object) noexcept override {
    if (object.interest == 0)
      return;
    epoll_event event{};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, object.fd.load(std::memory_order_relaxed), &event);
    object.interest = 0;
  }

  void poll(std::int64_t timeout, operation_queue& ready) noexcept override {
    if (next_ == end_) {
      next_ = 0;
      end_ = std::max(wait(events_, timeout), 0);
      (void)registered_.load(std::memory_order_acquire);
    }
    const int until = driver_.owner().alone_and_idle() ? std::min(next_ + portion, end_) : end_;
    for (; next_ != until; ++next_) {
      // That of wake_ says only that it was written to, and each write makes one: it is not read.
      if (const std::uint64_t subject = events_[next_].data.u64)
        dispatch(*reinterpret_cast<io_object*>(subject & ~opening_mask), subject & opening_mask,
                 events_[next_].events, ready);
    }
    more_.store(next_ != end_, std::memory_order_relaxed);
  }

  void wake() noexcept override {
    const std::uint64_t one = 1;
    while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {}
  }

  int native_handle() override { return epoll_.get(); }

  void restart() override {
    next_ = end_ = 0;
    more_.store(false, std::memory_order_relaxed);
    epoll_ = native_descriptor(::epoll_create1(EPOLL_CLOEXEC), "epoll");
    wake_ = native_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
      throw_error(errno_code(errno), "epoll_ctl");
  }

 private:
  // An event's data: the object's address, and in the bits that its alignment leaves free the
  // number of its opening.
  static constexpr std::uint64_t opening_mask = alignof(io_object) - 1;

  static std::uint64_t opening_of(const io_object& object) noexcept {
    return object.openings.load(std::memory_order_relaxed) & opening_mask;
  }

  int watch(io_object& object, std::uint32_t events) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = reinterpret_cast<std::uintptr_t>(&object) | opening_of(object);
    const int operation = object.interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (operation == EPOLL_CTL_ADD)
      registered_.fetch_add(1, std::memory_order_release);
    if (::epoll_ctl(epoll_.get(), operation, object.fd.load(std::memory_order_relaxed), &event) !=
        0)
      return errno;
    object.interest = events;
    object.level = (events & EPOLLET) == 0;
    return 0;
  }

  int wait(epoll_event (&events)[batch], std::int64_t timeout) noexcept {
    if (timeout == driver::forever)
      return ::epoll_wait(epoll_.get(), events, batch, -1);
    if (timeout == 0)
      return ::epoll_wait(epoll_.get(), events, batch, 0);
    const timespec t{timeout / 1'000'000'000, timeout % 1'000'000'000};
    int n = ::epoll_pwait2(epoll_.get(), events, batch, &t, nullptr);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {  // before Linux 5.11, or denied
      const std::int64_t ms = std::min<std::int64_t>((timeout + 999'999) / 1'000'000, INT32_MAX);
      n = ::epoll_wait(epoll_.get(), events, batch, static_cast<int>(ms));
    }
    return n;
  }

  void dispatch(io_object& object, std::uint64_t opening, std::uint32_t events,
                operation_queue& ready) noexcept {
    const std::lock_guard lock(object.mutex);
    if (object.closed || opening_of(object) != opening)
      return;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI))
      object.hangup = true;
    const io_operation* reader = object.list(io_queue::read).front();
    const std::size_t bytes = reader ? reader->bytes : 0;
    const bool end = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if (end || (events & EPOLLPRI))
      driver_.perform(object, io_queue::except, ready);
    if (end || (events & (EPOLLIN | EPOLLRDHUP)))
      readable(object, ready);
    if (end || (events & EPOLLOUT))
      driver_.perform(object, io_queue::write, ready);
    if (object.level && object.list(io_queue::read).front() == reader &&
        (!reader || reader->bytes == bytes))
      watch_edges(object);
  }

  void readable(io_object& object, operation_queue& ready) noexcept {
    driver_.perform(object, io_queue::read, ready);
    if (object.level)
      object.is_ready(io_queue::read) = false;
  }

  // An event that brought the front reader nothing (nobody reads, it is held back, urgent data or
  // an error nobody asked for) would repeat for ever.
  void watch_edges(io_object& object) noexcept {
    object.misses = 0;
    object.is_ready(io_queue::read) = true;
    watch(object, object.interest | EPOLLET);
  }

  io_driver& driver_;
  native_descriptor epoll_;
  native_descriptor wake_;

  // Of who polls: the events from `next_` to `end_` are not yet dispatched.
  epoll_event events_[batch];
  int next_ = 0;
  int end_ = 0;

  /// Who registers an object passes it on to who polls: the kernel orders the two, but not in terms
  /// that C++, and so ThreadSanitizer, knows. Released by `watch`, acquired by `poll`.
  std::atomic<unsigned> registered_{0};
};

std::unique_ptr<backend> make_epoll_backend(io_driver& driver) {
  return std::make_unique<epoll_backend>(driver);
}

}  // namespace WEFT_NAMESPACE::detail
