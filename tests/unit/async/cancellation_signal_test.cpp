// SPDX-License-Identifier: BSL-1.0
#include <weft/async/cancellation_signal.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/cancellation_state.hpp>

namespace {

using weft::cancellation_type;

TEST(cancellation_signal, calls_the_handler_in_the_slot_with_the_type) {
  weft::cancellation_signal signal;
  signal.emit(cancellation_type::all);
  cancellation_type got = cancellation_type::none;
  signal.slot().assign([&](cancellation_type t) { got = t; });
  EXPECT_TRUE(signal.slot().has_handler());
  signal.emit(cancellation_type::partial);
  EXPECT_EQ(got, cancellation_type::partial);
}

TEST(cancellation_signal, does_not_call_a_handler_that_was_cleared_or_replaced) {
  weft::cancellation_signal signal;
  auto alive = std::make_shared<int>(0);
  signal.slot().assign([alive](cancellation_type) { *alive = 1; });
  signal.slot().assign([](cancellation_type) {});
  EXPECT_EQ(alive.use_count(), 1);
  signal.slot().assign([alive](cancellation_type) { *alive = 2; });
  signal.slot().clear();
  EXPECT_FALSE(signal.slot().has_handler());
  signal.emit(cancellation_type::all);
  EXPECT_EQ(*alive, 0);
}

TEST(cancellation_signal, destroys_its_handler_with_itself) {
  auto alive = std::make_shared<int>(0);
  {
    weft::cancellation_signal signal;
    signal.slot().assign([alive](cancellation_type) {});
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(cancellation_slot, without_a_signal_is_not_connected_and_may_be_cleared) {
  weft::cancellation_slot slot;
  EXPECT_FALSE(slot.is_connected());
  EXPECT_FALSE(slot.has_handler());
  slot.clear();
  EXPECT_EQ(slot, weft::cancellation_slot());
  weft::cancellation_signal signal;
  EXPECT_NE(slot, signal.slot());
}

TEST(cancellation_slot, makes_a_handler_in_place_that_cannot_be_moved) {
  struct pinned {
    explicit pinned(int* r) : result(r) {}
    pinned(const pinned&) = delete;
    void operator()(cancellation_type) { ++*result; }
    int* result;
  };
  weft::cancellation_signal signal;
  int calls = 0;
  pinned& handler = signal.slot().emplace<pinned>(&calls);
  EXPECT_EQ(handler.result, &calls);
  signal.emit(cancellation_type::all);
  EXPECT_EQ(calls, 1);
}

TEST(cancellation_slot, is_empty_when_the_handlers_constructor_throws) {
  struct thrower {
    thrower() { throw std::runtime_error("handler"); }
    void operator()(cancellation_type) {}
  };
  weft::cancellation_signal signal;
  signal.slot().assign([](cancellation_type) {});
  EXPECT_THROW(signal.slot().emplace<thrower>(), std::runtime_error);
  EXPECT_FALSE(signal.slot().has_handler());
}

TEST(cancellation_signal, lets_a_handler_clear_or_replace_itself_and_destroys_it_afterwards) {
  weft::cancellation_signal signal;
  auto alive = std::make_shared<int>(0);
  int second = 0;
  signal.slot().assign([&, alive](cancellation_type) {
    auto& captured = second;
    auto keep = &alive;
    signal.slot().assign([&captured](cancellation_type) { ++captured; });
    EXPECT_EQ(keep->use_count(), 2);
    *alive = 1;
  });
  signal.emit(cancellation_type::all);
  EXPECT_EQ(*alive, 1);
  EXPECT_EQ(alive.use_count(), 1);
  signal.emit(cancellation_type::all);
  EXPECT_EQ(second, 1);
}

TEST(cancellation_signal, may_be_emitted_by_its_own_handler) {
  weft::cancellation_signal signal;
  int calls = 0;
  signal.slot().assign([&](cancellation_type t) {
    if (++calls < 3)
      signal.emit(t);
    signal.slot().clear();
  });
  signal.emit(cancellation_type::all);
  EXPECT_EQ(calls, 3);
}

TEST(cancellation_signal, is_unlocked_after_a_handler_has_thrown) {
  weft::cancellation_signal signal;
  signal.slot().assign([](cancellation_type) { throw std::runtime_error("handler"); });
  EXPECT_THROW(signal.emit(cancellation_type::all), std::runtime_error);
  std::thread([&] { signal.slot().clear(); }).join();
  EXPECT_FALSE(signal.slot().has_handler());
}

// An operation as an engine runs it: started on one thread, completed on another, which clears the
// slot before it frees the operation. Under a sanitizer, a late emission would be seen.
struct fake_operation {
  explicit fake_operation(weft::cancellation_slot s) : slot(s) {}
  weft::cancellation_slot slot;
  std::atomic<bool> cancelled{false};
  int payload = 1;
};

TEST(cancellation_signal, never_reaches_a_freed_operation_whatever_thread_emits) {
  weft::cancellation_signal signal;
  std::atomic<fake_operation*> started{nullptr};
  std::atomic<bool> stop{false};
  std::atomic<int> emissions{0};
  constexpr int rounds = 3000;

  std::vector<std::thread> emitters;
  for (int i = 0; i < 2; ++i)
    emitters.emplace_back([&] {
      while (!stop.load()) {
        signal.emit(cancellation_type::terminal);
        std::this_thread::yield();
      }
    });
  std::thread completer([&] {
    for (int i = 0; i < rounds; ++i) {
      fake_operation* op;
      while (!(op = started.exchange(nullptr)))
        std::this_thread::yield();
      op->slot.clear();
      delete op;
    }
  });
  for (int i = 0; i < rounds; ++i) {
    auto* op = new fake_operation(signal.slot());
    {
      weft::detail::slot_lock lock(op->slot);
      op->slot.assign([op, &emissions](cancellation_type) {
        op->cancelled = true;
        op->payload += 1;
        ++emissions;
      });
      started.store(op);
    }
    while (started.load())
      std::this_thread::yield();
  }
  completer.join();
  stop = true;
  for (auto& t : emitters)
    t.join();
  EXPECT_FALSE(signal.slot().has_handler());
}

TEST(cancellation_signal, makes_clear_wait_until_another_threads_emission_is_out) {
  weft::cancellation_signal signal;
  std::atomic<bool> inside{false}, leave{false}, left{false};
  signal.slot().assign([&](cancellation_type) {
    inside = true;
    while (!leave.load())
      std::this_thread::yield();
    left = true;
  });
  std::thread emitter([&] { signal.emit(cancellation_type::all); });
  while (!inside.load())
    std::this_thread::yield();
  std::thread releaser([&] { leave = true; });
  signal.slot().clear();
  EXPECT_TRUE(left.load());
  releaser.join();
  emitter.join();
}

TEST(cancellation_state, remembers_and_passes_on_what_its_filter_lets_pass) {
  weft::cancellation_signal signal;
  weft::cancellation_state state(signal.slot());
  std::vector<cancellation_type> got;
  state.slot().assign([&](cancellation_type t) { got.push_back(t); });
  signal.emit(cancellation_type::total);
  EXPECT_EQ(state.cancelled(), cancellation_type::none);
  signal.emit(cancellation_type::all);
  EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
  EXPECT_EQ(got, std::vector{cancellation_type::terminal});
  state.clear();
  EXPECT_EQ(state.cancelled(), cancellation_type::none);
}

TEST(cancellation_state, filters_incoming_and_outgoing_requests_separately) {
  weft::cancellation_signal signal;
  weft::cancellation_state state(signal.slot(), weft::enable_total_cancellation(),
                                 weft::disable_cancellation());
  bool reached = false;
  state.slot().assign([&](cancellation_type) { reached = true; });
  signal.emit(cancellation_type::partial);
  signal.emit(cancellation_type::total);
  EXPECT_EQ(state.cancelled(), cancellation_type::partial | cancellation_type::total);
  EXPECT_FALSE(reached);
}

TEST(cancellation_state, of_an_unconnected_slot_is_never_cancelled) {
  weft::cancellation_state state{weft::cancellation_slot()};
  EXPECT_FALSE(state.slot().is_connected());
  EXPECT_EQ(state.cancelled(), cancellation_type::none);
}

TEST(cancellation_type, is_a_bit_mask) {
  const auto t = cancellation_type::terminal | cancellation_type::partial;
  EXPECT_TRUE(!!(t & cancellation_type::partial));
  EXPECT_TRUE(!(t & cancellation_type::total));
  EXPECT_EQ(t ^ cancellation_type::terminal, cancellation_type::partial);
  EXPECT_EQ(~cancellation_type::none, cancellation_type::all);
  EXPECT_EQ(weft::enable_partial_cancellation()(cancellation_type::all), t);
}

}  // namespace
