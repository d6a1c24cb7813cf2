// SPDX-License-Identifier: BSL-1.0
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "unit/net/socket_fixture.hpp"

// Many descriptors become ready at once, of which a poll need not dispatch all.

namespace {

using namespace weft_test;

class event_burst : public socket_test {
 protected:
  static constexpr int count = 100;

  struct connection {
    explicit connection(weft::io_context& context) : here(context), there(context) {
      weft::local::connect_pair(here, there);
    }
    unix_stream::socket here, there;
    char byte = 0;
  };

  /// All read; then all can.
  template <class Handler>
  void burst(Handler handler) {
    for (int i = 0; i != count; ++i) {
      connections.push_back(std::make_unique<connection>(context));
      connection& c = *connections.back();
      c.there.async_read_some(buffer(&c.byte, 1), handler);
    }
    context.poll();
    for (const auto& c : connections)
      c->here.write_some(buffer("x", 1));
    context.restart();
  }

  /// All can read, but only the first and the last want to.
  template <class Handler>
  void burst_for_two(Handler handler) {
    burst([](error_code, std::size_t) {});
    context.run();
    for (connection* c : {connections.front().get(), connections.back().get()})
      c->there.async_read_some(buffer(&c->byte, 1), handler);
    context.restart();
    context.poll();
    for (const auto& c : connections)
      c->here.write_some(buffer("y", 1));
    context.restart();
  }

  /// A handler that counts.
  auto counting() {
    return [this](error_code ec, std::size_t) {
      EXPECT_FALSE(ec);
      ++served;
    };
  }

  std::vector<std::unique_ptr<connection>> connections;
  std::atomic<int> served{0};
};

TEST_P(event_burst, one_poll_serves_all) {
  burst(counting());
  EXPECT_EQ(context.poll(), std::size_t(count));
  EXPECT_EQ(served, count);
}

TEST_P(event_burst, handlers_run_one_at_a_time) {
  burst(counting());
  for (int i = 0; i != count; ++i) {
    EXPECT_EQ(context.poll_one(), 1u);
    EXPECT_EQ(served, i + 1);
  }
  EXPECT_EQ(context.poll_one(), 0u);
}

TEST_P(event_burst, what_is_left_is_told_to_a_foreign_loop) {
  pollfd loop{context.poll_descriptor(), POLLIN, 0};
  burst(counting());
  while (served != count) {
    ASSERT_EQ(::poll(&loop, 1, 20'000), 1) << "after " << served;
    context.poll_one();
  }
}

TEST_P(event_burst, events_that_nobody_waits_for_hide_none) {
  burst_for_two(counting());
  EXPECT_EQ(context.poll(), 2u);
  EXPECT_EQ(connections.back()->byte, 'y');
}

TEST_P(event_burst, events_that_nobody_waits_for_hide_none_from_a_foreign_loop) {
  pollfd loop{context.poll_descriptor(), POLLIN, 0};
  burst_for_two(counting());
  while (served != 2) {
    ASSERT_EQ(::poll(&loop, 1, 20'000), 1) << "after " << served;
    context.poll_one();
  }
}

TEST_P(event_burst, a_blocked_handler_holds_up_none) {
  burst([this](error_code, std::size_t) {
    if (served++ == 0)
      while (served != count)
        served.wait(served);
    served.notify_all();
  });
  std::thread other([this] { context.run(); });
  context.run();
  other.join();
  EXPECT_EQ(served, count);
}

TEST_P(event_burst, a_run_that_ends_by_time_loses_none) {
  burst(counting());
  EXPECT_EQ(context.run_one_for(std::chrono::hours(1)), 1u);
  while (served != count)
    EXPECT_EQ(context.run_one_for(std::chrono::hours(1)), 1u);
}

TEST_P(event_burst, the_child_of_a_fork_is_told_anew) {
  burst(counting());
  context.run_one();
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        context.run();
        return served == count;
      },
      context));
}

TEST_P(event_burst, a_stop_loses_none) {
  burst([this](error_code, std::size_t) {
    ++served;
    context.stop();
  });
  for (int runs = 0; served != count; ++runs) {
    ASSERT_LE(runs, count);
    context.restart();
    context.run();
  }
}

TEST_P(event_burst, destruction_of_the_objects_drops_theirs) {
  burst([this](error_code ec, std::size_t) {
    if (++served == 1)
      connections.clear();
    else
      EXPECT_TRUE(!ec || ec == weft::error::operation_aborted);
  });
  context.run();
  EXPECT_EQ(served, count);
}

WEFT_INSTANTIATE_BACKENDS(event_burst);

}  // namespace
