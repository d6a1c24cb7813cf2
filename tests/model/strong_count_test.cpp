// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <weft/base/strong_count.hpp>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

/// A block as strong_ptr has it: its end, and the object's, are writes.
struct block {
  weft::detail::basic_concurrent_count<model::atomics> count;
  model::var<int> object{0};
  model::var<int> weak_part{0};
  int& blocks_ended;
  int objects_ended = 0;

  explicit block(int& ended) : blocks_ended(ended) {}
};

void drop_weak(block* b) {
  if (b->count.drop_weak()) {
    model::require(b->objects_ended == 1, "the memory ended before the object, or without it");
    ++b->blocks_ended;
    delete b;
  }
}

void drop(block* b) {
  if (b->count.drop()) {
    b->object.set(-1);
    ++b->objects_ended;
    drop_weak(b);
  }
}

/// What a weak pointer does on its thread.
void lock_and_use(block* b) {
  if (b->count.add_unless_ended()) {
    model::require(b->object.get() != -1, "locked an object that has ended");
    drop(b);
  }
}

void a_weak_reference_is_locked_beside_the_last_release() {
  int ended = 0;
  auto* const b = new block(ended);
  b->count.add_weak();
  model::thread other([&] {
    lock_and_use(b);
    drop_weak(b);
  });
  b->object.get();
  drop(b);
  other.join();
  model::require(ended == 1, "the memory ended twice, or never");
}

void weak_references_alone_are_dropped() {
  int ended = 0;
  auto* const b = new block(ended);
  b->count.add_weak();
  drop(b);
  b->count.add_weak();
  model::thread other([&] {
    b->weak_part.get();
    drop_weak(b);
  });
  b->weak_part.get();
  drop_weak(b);
  other.join();
  model::require(ended == 1, "the memory ended twice, or never");
}

void strong_references_read_and_are_dropped() {
  int ended = 0;
  auto* const b = new block(ended);
  b->count.add();
  model::thread other([&] {
    b->count.add();
    b->object.get();
    drop(b);
    drop(b);
  });
  b->object.get();
  drop(b);
  other.join();
  model::require(ended == 1, "the memory ended twice, or never");
}

TEST(strong_count_model, ends_object_and_memory_once_each_and_needs_its_orders) {
  model::every_order_is_needed({
      {"a_weak_reference_is_locked_beside_the_last_release",
       a_weak_reference_is_locked_beside_the_last_release,
       {.preemptions = 3}},
      {"weak_references_alone_are_dropped", weak_references_alone_are_dropped, {.preemptions = 3}},
      {"strong_references_read_and_are_dropped",
       strong_references_read_and_are_dropped,
       {.preemptions = 3}},
  });
}

}  // namespace
