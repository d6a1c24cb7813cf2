// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/channel_ring.hpp>

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <vector>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;

struct atomics : model::atomics {
  static void wait_a_little(unsigned) noexcept { model::yield(); }
};

/// What threads know to be plain memory of a slot, by its address.
using cells = std::map<const void*, model::var<int>>;

/// A value of the ring. It is made outside, and moved only into slots, whose memory it touches.
class payload {
 public:
  payload(int n, cells& c) : number_(n), cells_(c) {}
  payload(payload&& other) noexcept : number_(other.number_), cells_(other.cells_), in_slot_(true) {
    cells_[this].set(number_);
  }
  ~payload() {
    if (in_slot_)
      cells_[this].set(0);
  }
  int read() const {
    require(cells_[this].get() == number_, "another's value");
    return number_;
  }

 private:
  const int number_;
  cells& cells_;
  const bool in_slot_ = false;
};

/// A channel of which receivers are known by their number alone: what its lock protects is plain,
/// what goes past the lock is the shipping ring.
class fixture {
 public:
  explicit fixture(std::size_t capacity) : ring_(capacity) {}

  /// Whether the channel has taken `n`.
  bool send(int n) {
    payload value(n, cells_);
    if (ring_.try_push(value))
      return true;
    const std::lock_guard lock(mutex_);
    ring_.shut();
    bool taken = true;
    if (waiting_ != 0) {
      --waiting_;
      received_.push_back(n);
    } else if (!ring_.full()) {
      ring_.push(value);
    } else {
      taken = false;
    }
    open();
    return taken;
  }

  /// Receives, or leaves word that it waits.
  void receive() {
    int n = 0;
    if (ring_.try_pop([&](payload&& value) { n = value.read(); })) {
      const std::lock_guard lock(mutex_);
      received_.push_back(n);
      return;
    }
    const std::lock_guard lock(mutex_);
    ring_.shut();
    if (!take())
      ++waiting_;
    open();
  }

  /// Cancels a wait, if there is one.
  void cancel() {
    const std::lock_guard lock(mutex_);
    ring_.shut();
    waiting_ -= waiting_ != 0;
    open();
  }

  /// At the end: `count` values have come, each once, those of one sender (odd or even) in order.
  void check(int count) {
    ring_.shut();
    require(waiting_ == 0 || !ring_.front(), "a wake-up is lost");
    while (take()) {}
    std::map<int, int> seen;
    int last[2] = {0, 0};
    for (const int n : received_) {
      require(seen[n]++ == 0, "a value came twice");
      require(last[n % 2] < n, "values of one sender have changed places");
      last[n % 2] = n;
    }
    require(received_.size() == static_cast<std::size_t>(count), "a value is lost");
  }

  bool is_waited_for() const { return waiting_ != 0; }

 private:
  bool take() {
    payload* const value = ring_.front();
    if (!value)
      return false;
    received_.push_back(value->read());
    std::destroy_at(value);
    ring_.drop();
    return true;
  }
  void open() {
    if (waiting_ == 0)
      ring_.let_in();
  }

  cells cells_;
  weft::detail::channel_ring<payload, atomics> ring_;
  model::mutex mutex_;
  int waiting_ = 0;
  std::vector<int> received_;  // guarded by mutex_
};

// The order in which fast receivers note what they have got is not that in which they got it, so
// where values of one sender matter there is one receiver.

void senders_and_a_receiver() {
  fixture f(2);
  thread one([&] { require(f.send(1), "not taken"); });
  thread two([&] { require(f.send(2), "not taken"); });
  f.receive();
  f.receive();
  one.join();
  two.join();
  f.check(2);
}

void laps_of_one_slot() {
  fixture f(1);
  int sent = 0;
  thread sender([&] {
    for (int i = 0; i != 3; ++i)
      sent += f.send(2 * sent + 1);
  });
  f.receive();
  f.receive();
  sender.join();
  f.check(sent);
}

void a_receiver_waits() {
  fixture f(2);
  thread receiver([&] { f.receive(); });
  thread sender([&] { require(f.send(1), "not taken"); });
  require(f.send(2), "not taken");
  receiver.join();
  sender.join();
  f.check(2);
}

void receivers_wait() {
  fixture f(1);
  thread one([&] { f.receive(); });
  thread two([&] { f.receive(); });
  f.send(1);
  one.join();
  two.join();
  f.check(1);
  require(f.is_waited_for(), "who waits is forgotten");
}

void a_wait_is_cancelled() {
  fixture f(1);
  thread receiver([&] {
    f.receive();
    f.cancel();
    f.receive();
  });
  require(f.send(1), "not taken");
  receiver.join();
  f.check(1);
}

TEST(channel_model, loses_no_value_and_no_wake_up_and_needs_its_orders) {
  model::every_order_is_needed({{"senders_and_a_receiver", senders_and_a_receiver, {}},
                                {"laps_of_one_slot", laps_of_one_slot, {}},
                                {"a_receiver_waits", a_receiver_waits, {}},
                                {"receivers_wait", receivers_wait, {}},
                                {"a_wait_is_cancelled", a_wait_is_cancelled, {}}});
}

}  // namespace
