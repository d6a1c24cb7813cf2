// SPDX-License-Identifier: BSL-1.0
#include <weft/context/direct_initiation.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>

#include <weft/context/io_context.hpp>
#include <weft/sync/async_mutex.hpp>

namespace {

/// A slot that has no room for a canceller.
struct full_slot {
  bool is_connected() const noexcept { return true; }
  bool has_handler() const noexcept { return false; }
  template <class Handler, class... Args>
  Handler& emplace(Args&&...) {
    throw std::bad_alloc();
  }
  void clear() noexcept {}
};

struct handler {
  using cancellation_slot_type = full_slot;
  full_slot get_cancellation_slot() const noexcept { return {}; }
  void operator()(weft::error_code) const { FAIL() << "it was not started"; }

  std::shared_ptr<int> owned;
};

TEST(direct_initiation, starts_nothing_and_keeps_nothing_if_its_canceller_has_no_room) {
  const auto owned = std::make_shared<int>(1);
  weft::io_context context;
  weft::async_mutex mutex(context);
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_THROW(mutex.async_lock(handler{owned}), std::bad_alloc);
  EXPECT_EQ(owned.use_count(), 1);
  mutex.unlock();
  context.run();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

}  // namespace
