// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <functional>
#include <type_traits>
#include <weft/experimental/as_tuple.hpp>
#include <weft/experimental/deferred.hpp>
#include <weft/placeholders.hpp>
#include <weft/thread.hpp>

namespace {

TEST(placeholders, stand_for_the_argument_they_name) {
  int first = 0;
  int second = 0;
  auto handler = std::bind(
      [&first, &second](int a, int b) {
        first = a;
        second = b;
      },
      weft::placeholders::bytes_transferred, weft::placeholders::error);
  handler(1, 2);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
}

TEST(thread, join_waits_for_the_function_and_may_be_repeated) {
  bool ran = false;
  weft::thread thread([&ran] { ran = true; });
  thread.join();
  EXPECT_TRUE(ran);
  thread.join();
}

TEST(experimental, names_are_those_of_the_library) {
  EXPECT_EQ(&weft::experimental::deferred, &weft::deferred);
  EXPECT_TRUE((std::is_same_v<weft::experimental::as_tuple_t<int>, weft::as_tuple_t<int>>));
}

}  // namespace
