// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/spawn.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <weft/async/compose.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/use_awaitable.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/read.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"

namespace {

using weft::detached;
using weft::error_code;
using weft::spawn;
using weft::yield_context;

class fiber_on : public weft_test::backend_test {};

TEST_P(fiber_on, echoes_over_pipes) {
  weft::readable_pipe there(context), back(context);
  weft::writable_pipe to(context), from(context);
  connect_pipe(there, to);
  connect_pipe(back, from);
  std::string answer(5, ' ');
  spawn(
      context,
      [&](yield_context yield) {
        std::array<char, 5> data;
        async_read(there, weft::buffer(data), yield);
        async_write(from, weft::buffer(data), yield);
      },
      detached);
  spawn(
      context,
      [&](yield_context yield) {
        async_write(to, weft::buffer("hello", 5), yield);
        async_read(back, weft::buffer(answer), yield);
      },
      detached);
  context.run();
  EXPECT_EQ(answer, "hello");
}

/// A pipe with bytes to read.
class fiber_with_bytes_on : public fiber_on {
 protected:
  static constexpr std::size_t bytes = 200;

  fiber_with_bytes_on() {
    connect_pipe(from, to);
    EXPECT_EQ(write(to, weft::buffer(std::string(bytes, 'x'))), bytes);
  }
  /// Reads them one by one, and counts those that come before others have their turn.
  void count(yield_context yield) {
    bool others_had_their_turn = false;
    post(context, [&] { others_had_their_turn = true; });
    for (std::size_t i = 0; i != bytes; ++i) {
      char byte;
      EXPECT_EQ(from.async_read_some(weft::buffer(&byte, 1), yield), 1u);
      in_a_row += !others_had_their_turn;
    }
  }

  weft::readable_pipe from{context};
  weft::writable_pipe to{context};
  std::size_t in_a_row = 0;
};

TEST_P(fiber_with_bytes_on, what_is_there_is_read_without_a_switch_but_not_for_ever) {
  spawn(context, [&](yield_context yield) { count(yield); }, detached);
  context.run();
  // On io_uring a read is the kernel's first.
  if (GetParam() == weft::backend_kind::epoll)
    EXPECT_EQ(in_a_row, weft::detail::fiber_base::most_in_place);
  else
    EXPECT_LE(in_a_row, weft::detail::fiber_base::most_in_place);
}

/// Reads so many bytes one by one, each step from the completion of the one before.
template <class Token>
auto async_read_each(weft::readable_pipe& from, char& byte, std::size_t bytes, Token&& token) {
  return weft::async_compose<Token, void(error_code, std::size_t)>(
      [&from, &byte, bytes, read = std::size_t{0}](auto& self, error_code ec = {},
                                                   std::size_t n = 0) mutable {
        read += n;
        if (ec || read == bytes)
          return self.complete(ec, read);
        weft::readable_pipe& source = from;
        source.async_read_some(weft::buffer(&byte, 1), std::move(self));
      },
      token, from);
}

class composed_steps_on : public fiber_on {
 protected:
  static constexpr std::size_t bytes = 20'000;

  composed_steps_on() {
    connect_pipe(from, to);
    EXPECT_EQ(write(to, weft::buffer(std::string(bytes, 'x'))), bytes);
  }

  weft::readable_pipe from{context};
  weft::writable_pipe to{context};
  char byte = 0;
  std::size_t read = 0;
};

TEST_P(composed_steps_on, that_are_ready_do_not_grow_the_stack_of_a_fiber) {
  spawn(
      context, [&](yield_context yield) { read = async_read_each(from, byte, bytes, yield); },
      detached);
  context.run();
  EXPECT_EQ(read, bytes);
}

TEST_P(composed_steps_on, that_are_ready_do_not_grow_the_stack_of_a_coroutine) {
  const auto reads = [&]() -> weft::awaitable<void> {
    read = co_await async_read_each(from, byte, bytes, weft::use_awaitable);
  };
  co_spawn(context, reads(), detached);
  context.run();
  EXPECT_EQ(read, bytes);
}

WEFT_INSTANTIATE_BACKENDS(composed_steps_on);
WEFT_INSTANTIATE_BACKENDS(fiber_on);
WEFT_INSTANTIATE_BACKENDS(fiber_with_bytes_on);

}  // namespace
