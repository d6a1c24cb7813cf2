// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/channel_ring.hpp>

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;

struct atomics : model::atomics {
  using where = std::source_location;
  static constexpr unsigned patience = 1;
  static void wait_a_little(unsigned) noexcept { model::yield(); }
  static const void* this_thread() noexcept { return names + model::this_thread(); }
  static bool barriers_available() noexcept { return true; }
  static void light_barrier(where w = where::current()) { model::light_barrier(w); }
  static void heavy_barrier(where w = where::current()) { model::heavy_barrier(w); }

 private:
  static constexpr char names[16] = {};
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
  using ring = weft::detail::channel_ring<payload, atomics>;

 public:
  explicit fixture(std::size_t capacity) : ring_(capacity) {}

  /// Whether the channel has taken `n`.
  bool send(int n) {
    payload value(n, cells_);
    if (ring_.try_push(value, [this] { designate(); }) == ring::attempt::done)
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
    if (try_pop(n) == ring::attempt::done) {
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

  /// Whether it was empty when nobody waited, or there was a value; then it has been received.
  bool poll() {
    int n = 0;
    const auto outcome = try_pop(n);
    if (outcome == ring::attempt::refused)
      return false;
    const std::lock_guard lock(mutex_);
    if (outcome == ring::attempt::done) {
      received_.push_back(n);
      return true;
    }
    ring_.shut();
    const bool taken = take();
    open();
    return taken;
  }

  /// Whether the channel has taken `n`, without a receiver.
  bool offer(int n) {
    payload value(n, cells_);
    const auto outcome = ring_.try_push(value, [this] { designate(); });
    if (outcome != ring::attempt::unclear)
      return outcome == ring::attempt::done;
    const std::lock_guard lock(mutex_);
    ring_.shut();
    const bool has_room = !ring_.full();
    if (has_room)
      ring_.push(value);
    open();
    return has_room;
  }

  /// Sends, or leaves word that it waits: one at a time.
  void send_or_wait(int n) {
    const std::lock_guard lock(mutex_);
    ring_.shut();
    if (ring_.full())
      sends_ = n;
    else
      push(n);
    open();
  }
  /// Receives what there is, and lets in what waits to be sent.
  void receive_for_a_sender() {
    const std::lock_guard lock(mutex_);
    ring_.shut();
    require(take(), "there was no value");
    if (const int n = std::exchange(sends_, 0))
      push(n);
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

  /// The calling thread becomes the owner.
  void designate() {
    const std::lock_guard lock(mutex_);
    ring_.shut();
    ring_.designate();
    open();
  }

 private:
  typename ring::attempt try_pop(int& n) {
    return ring_.try_pop([&](payload&& value) { n = value.read(); }, [this] { designate(); });
  }
  bool take() {
    payload* const value = ring_.front();
    if (!value)
      return false;
    received_.push_back(value->read());
    std::destroy_at(value);
    ring_.drop();
    return true;
  }
  void push(int n) {
    payload value(n, cells_);
    ring_.push(value);
  }
  void open() {
    if (waiting_ == 0 && sends_ == 0)
      ring_.let_in();
  }

  cells cells_;
  ring ring_;
  model::mutex mutex_;
  int waiting_ = 0;
  int sends_ = 0;              // what somebody waits to send, or 0
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

// One thread has become the owner of the ring: `designate` is called where its laps would have
// called it.

void an_owner_meets_a_sender() {
  fixture f(2);
  f.designate();
  thread other([&] { require(f.send(2), "not taken"); });
  require(f.send(1), "not taken");
  f.receive();
  f.receive();
  other.join();
  f.check(2);
}

void an_owner_meets_a_receiver() {
  fixture f(1);
  f.designate();
  thread other([&] { f.receive(); });
  const int sent = f.send(1) + f.send(3);
  other.join();
  f.receive();
  f.check(sent);
  require(f.is_waited_for() == (sent == 1), "who waits is forgotten");
}

void an_owner_that_is_one_no_longer() {
  fixture f(1);
  f.designate();
  thread other([&] {
    f.receive();
    require(f.send(2), "not taken");
  });
  require(f.send(1), "not taken");
  other.join();
  f.receive();
  f.check(2);
}

void another_lets_in_whom_an_owner_has_waiting() {
  fixture f(1);
  f.designate();
  require(f.send(1), "not taken");
  f.send_or_wait(3);
  thread other([&] { f.receive_for_a_sender(); });
  const bool taken = f.offer(5);
  other.join();
  f.check(2 + taken);
}

void laps_make_an_owner() {
  fixture f(1);
  thread other([&] { f.receive(); });
  require(f.send(1), "not taken");
  other.join();
  int sent = 1;
  for (int i = 0; i != 3; ++i) {
    require(f.offer(2 * ++sent + 1), "not taken");
    require(f.poll(), "not received");
  }
  f.check(sent);
}

void there_is_a_value_behind_one_that_is_being_put_in() {
  fixture f(2);
  thread one([&] { require(f.offer(1), "not taken"); });
  thread two([&] {
    require(f.offer(2), "not taken");
    require(f.poll(), "its own value is there, at least");
  });
  one.join();
  two.join();
  f.check(2);
}

void there_is_room_behind_a_value_that_is_being_taken() {
  fixture f(2);
  require(f.send(1) && f.send(2), "not taken");
  thread one([&] { require(f.poll(), "not received"); });
  thread two([&] {
    require(f.poll(), "not received");
    require(f.offer(3), "it has made room itself");
  });
}

TEST(channel_model, loses_no_value_and_no_wake_up_and_needs_its_orders) {
  model::every_order_is_needed(
      {{"senders_and_a_receiver", senders_and_a_receiver, {}},
       {"laps_of_one_slot", laps_of_one_slot, {}},
       {"a_receiver_waits", a_receiver_waits, {}},
       {"receivers_wait", receivers_wait, {}},
       {"a_wait_is_cancelled", a_wait_is_cancelled, {}},
       {"an_owner_meets_a_sender", an_owner_meets_a_sender, {}},
       {"an_owner_meets_a_receiver", an_owner_meets_a_receiver, {}},
       {"an_owner_that_is_one_no_longer", an_owner_that_is_one_no_longer, {}},
       {"another_lets_in_whom_an_owner_has_waiting", another_lets_in_whom_an_owner_has_waiting, {}},
       {"laps_make_an_owner", laps_make_an_owner, {}},
       {"there_is_a_value_behind_one_that_is_being_put_in",
        there_is_a_value_behind_one_that_is_being_put_in,
        {}},
       {"there_is_room_behind_a_value_that_is_being_taken",
        there_is_room_behind_a_value_that_is_being_taken,
        {}}});
}

}  // namespace
