// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <weft/base/reference_count.hpp>

#include "model/atomics.hpp"
#include "model/checker/weakening.hpp"

namespace {

/// What the users of a counted object share; its end is a write.
struct counted {
  weft::detail::basic_reference_count<model::atomics> references;
  model::var<int> data{0};
};

void drop(counted* object, int& ends) {
  if (object->references.drop()) {
    ++ends;
    delete object;
  }
}

void users_that_read() {
  int ends = 0;
  auto* const object = new counted;
  object->references.add();
  model::thread one([&] {
    object->references.add();
    object->data.get();
    drop(object, ends);
    drop(object, ends);
  });
  object->data.get();
  drop(object, ends);
  one.join();
  model::require(ends == 1, "destroyed twice, or never");
}

TEST(reference_count_model, destroys_once_after_every_use_and_needs_its_orders) {
  model::every_order_is_needed({{"users_that_read", users_that_read, {.preemptions = 3}}});
}

}  // namespace
