// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <thread>

#include <weft.hpp>

#if !defined(WEFT_HAS_FILE) || !defined(WEFT_HAS_LOCAL_SOCKETS) || !defined(WEFT_HAS_PIPE) || \
    !defined(WEFT_HAS_POSIX_STREAM_DESCRIPTOR) || !defined(WEFT_HAS_SERIAL_PORT)
#error "a program that asks for these by macro compiles to nothing"
#endif

namespace {

template <WEFT_COMPLETION_TOKEN_FOR(void(int)) Token = weft::deferred_t>
WEFT_INITFN_AUTO_RESULT_TYPE(Token, void(int))
async_seven(Token&& token = Token()) {
  return weft::async_initiate<Token, void(int)>(
      [](WEFT_COMPLETION_HANDLER_FOR(void(int)) auto handler) { std::move(handler)(7); }, token);
}

template <class Token>
WEFT_INITFN_RESULT_TYPE(Token, void(int))
async_eight(Token&& token) {
  return weft::async_initiate<Token, void(int)>([](auto handler) { std::move(handler)(8); }, token);
}

template <WEFT_COMPLETION_SIGNATURE Signature>
constexpr bool takes_signatures = true;
static_assert(takes_signatures<void(int)>);

TEST(macros, of_the_completion_model_constrain_and_name_an_operation) {
  int got = 0;
  async_seven([&got](int n) { got = n; });
  EXPECT_EQ(got, 7);
  async_eight([&got](int n) { got = n; });
  EXPECT_EQ(got, 8);
}

TEST(macros, concurrency_hints_leave_a_context_safe_for_a_second_thread) {
  for (const int hint :
       {WEFT_CONCURRENCY_HINT_DEFAULT, WEFT_CONCURRENCY_HINT_SAFE, WEFT_CONCURRENCY_HINT_1,
        WEFT_CONCURRENCY_HINT_UNSAFE, WEFT_CONCURRENCY_HINT_UNSAFE_IO}) {
    weft::io_context context(hint);
    int ran = 0;
    std::thread other([&] { weft::post(context, [&ran] { ++ran; }); });
    other.join();
    context.run();
    EXPECT_EQ(ran, 1);
  }
}

}  // namespace
