// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/wait_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/sync/async_mutex.hpp>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

using model::require;
using model::thread;
using weft::cancellation_type;
using weft::detail::operation;
using weft::detail::scheduler;

/// The policy under the checker. What has completed goes to a context of the library's own, which
/// the checker does not see; an execution that fails leaves it behind as it is.
struct policy {
  static constexpr bool is_concurrent = true;
  using mutex = model::mutex;
  using atomics = model::atomics;
};
using mutex_core = weft::detail::mutex_core<policy>;

/// What asks for the mutex.
class waiting final : public weft::detail::core_operation<mutex_core> {
 public:
  explicit waiting(mutex_core& c) : core_operation(&end, c.owner(), c) {}

  bool start() noexcept {
    is_pending_from_start = core().wait(*this);
    return is_pending_from_start;
  }

  int calls = 0;
  int destructions = 0;
  bool is_pending_from_start = false;

 private:
  static void end(operation* base, action what) {
    auto* const self = static_cast<waiting*>(base);
    ++(what == action::invoke ? self->calls : self->destructions);
  }
};

/// A mutex and what it guards: plain memory, so that two at once, or one that does not see what the
/// one before has done, is a data race.
class fixture {
 public:
  ~fixture() {
    if (shared)
      shared->close();
  }

  /// What anybody does who has the mutex.
  void use() {
    guarded.set(guarded.get() + 1);
    shared->leave_lock();
  }
  void try_to_use() {
    if (shared->try_enter({}))
      use();
  }
  /// Runs what has completed; who has been granted the mutex unlocks it, so that the next comes.
  void finish(std::vector<waiting*> all) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      context.restart();
      context.poll();
      for (waiting*& op : all)
        if (op && (op->calls != 0 || !op->is_pending_from_start)) {
          require(op->calls == (op->is_pending_from_start ? 1 : 0), "ended twice");
          if (op->is_granted())
            use();
          op = nullptr;
          goes_on = true;
        }
    }
    for (waiting* op : all)
      require(!op, "a wait is lost");
    require(shared->try_enter({}), "it is locked, and nobody has it");
    shared->leave_lock();
  }

  weft::io_context context;
  mutex_core* shared = new mutex_core(context);
  model::var<int> guarded{0};
};

void locks_and_unlocks() {
  fixture f;
  thread other([&] { f.try_to_use(); });
  f.try_to_use();
  other.join();
  f.try_to_use();
}

void a_wait_beside_an_unlock() {
  fixture f;
  waiting op(*f.shared);
  require(f.shared->try_enter({}), "free");
  thread other([&] {
    if (!op.start())
      f.guarded.set(f.guarded.get() + 1);
  });
  f.use();
  other.join();
  f.finish({&op});
}

void a_wait_cancelled_beside_an_unlock() {
  fixture f;
  waiting op(*f.shared);
  require(f.shared->try_enter({}), "free");
  op.retain();
  require(op.start(), "locked");
  thread other([&] { op.cancel(cancellation_type::terminal); });
  thread third([&] { f.try_to_use(); });
  f.use();
  other.join();
  third.join();
  f.finish({&op});
}

void two_waits_one_cancelled_beside_an_unlock() {
  fixture f;
  waiting one(*f.shared);
  waiting two(*f.shared);
  require(f.shared->try_enter({}), "free");
  one.retain();
  require(one.start() && two.start(), "locked");
  thread other([&] { one.cancel(cancellation_type::terminal); });
  f.use();
  other.join();
  f.finish({&one, &two});
}

TEST(wait_queue_model, a_mutex_excludes_and_needs_its_orders) {
  model::every_order_is_needed({
      {"locks_and_unlocks", locks_and_unlocks, {.preemptions = 3}},
      {"a_wait_beside_an_unlock", a_wait_beside_an_unlock, {.preemptions = 3}},
      {"a_wait_cancelled_beside_an_unlock", a_wait_cancelled_beside_an_unlock, {.preemptions = 2}},
      {"two_waits", two_waits_one_cancelled_beside_an_unlock, {.preemptions = 2}},
  });
}

/// A wait is ended once by whatever comes first: the grant, its cancellation, that of all, the end
/// of the object or that of the context.
void ends_meet() {
  fixture f;
  auto one = std::make_unique<waiting>(*f.shared);
  auto two = std::make_unique<waiting>(*f.shared);
  require(f.shared->try_enter({}), "free");
  one->retain();
  two->retain();
  require(one->start() && two->start(), "locked");
  thread canceller([&] { one->cancel(cancellation_type::total); });
  thread all([&] { f.shared->cancel(); });
  f.shared->leave_lock();
  canceller.join();
  all.join();
  const bool closes = model::choose(2) != 0;
  if (closes) {
    f.shared->close();
    f.shared = nullptr;
  }
  f.context.restart();
  f.context.poll();
  require(one->calls == 1, "the first has not ended once");
  require(two->calls <= 1, "the second has ended twice");
  if (!closes && two->calls == 0) {
    f.shared->cancel();
    f.context.restart();
    f.context.poll();
  }
  require(two->calls == 1, "the second has not ended once");
}

TEST(wait_queue_model, a_wait_ends_once) {
  const model::result r = model::explore({.preemptions = 3, .weak_choices = 1}, ends_meet);
  EXPECT_FALSE(r.failed) << r.message();
}

}  // namespace
