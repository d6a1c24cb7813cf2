// SPDX-License-Identifier: BSL-1.0
#include <weft/async/async_result.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/append.hpp>
#include <weft/async/bind_executor.hpp>

#include "unit/support/manual_context.hpp"

namespace {

template <weft::completion_token_for<void(int, std::string)> Token>
auto async_pair(int n, Token&& token) {
  return weft::async_initiate<Token, void(int, std::string)>(
      [](auto&& handler, int value) {
        std::forward<decltype(handler)>(handler)(value, std::to_string(value));
      },
      token, n);
}

TEST(async_initiate, calls_a_move_only_handler) {
  int result = 0;
  async_pair(3, [&, p = std::make_unique<int>(4)](int n, std::string s) {
    result = n + *p;
    EXPECT_EQ(s, "3");
  });
  EXPECT_EQ(result, 7);
}

TEST(async_initiate, copies_an_lvalue_handler) {
  int calls = 0;
  auto handler = [&, data = std::vector<int>(3)](int, const std::string&) {
    ++calls;
    EXPECT_EQ(data.size(), 3u);
  };
  async_pair(1, handler);
  async_pair(2, handler);
  EXPECT_EQ(calls, 2);
}

TEST(completion_token_for, is_satisfied_by_handlers_of_the_signature_and_by_tokens_only) {
  auto right = [](int, std::string) {};
  auto wrong = [](std::string) {};
  static_assert(weft::completion_token_for<decltype(right), void(int, std::string)>);
  static_assert(!weft::completion_token_for<decltype(wrong), void(int, std::string)>);
  static_assert(!weft::completion_token_for<int, void()>);
  static_assert(weft::completion_token_for<weft::deferred_t, void(int, std::string)>);
  static_assert(weft::completion_token_for<const weft::deferred_t&, void()>);
  static_assert(weft::completion_handler_for<decltype(right), void(int, std::string) &&>);
  static_assert(weft::completion_signature<void(int) noexcept>);
  static_assert(!weft::completion_signature<int>);
}

// A token of somebody else's: it collects the results.
namespace third_party {

struct collect {
  std::vector<int>& results;
};

}  // namespace third_party
}  // namespace

template <>
class weft::async_result<third_party::collect, void(int, std::string)> {
 public:
  template <class Initiation, class Token, class... Args>
  static std::size_t initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    auto& results = token.results;
    std::forward<Initiation>(initiation)([&results](int n, std::string) { results.push_back(n); },
                                         std::forward<Args>(args)...);
    return results.size();
  }
};

namespace {

TEST(async_result, serves_a_third_party_token_by_specialisation) {
  std::vector<int> results;
  EXPECT_EQ(async_pair(5, third_party::collect{results}), 1u);
  EXPECT_EQ(async_pair(6, third_party::collect{results}), 2u);
  EXPECT_EQ(results, (std::vector{5, 6}));
}

// A token as it was written for the Networking TS.
struct legacy_token {
  int* target;
};
struct legacy_handler {
  explicit legacy_handler(legacy_token t) : target(t.target) {}
  void operator()(int n, std::string) { *target = n; }
  int* target;
};

}  // namespace

template <>
class weft::async_result<legacy_token, void(int, std::string)> {
 public:
  using completion_handler_type = legacy_handler;
  using return_type = int*;
  explicit async_result(legacy_handler& h) : target_(h.target) {}
  return_type get() { return target_; }

 private:
  int* target_;
};

namespace {

TEST(async_result, serves_a_token_of_the_networking_ts) {
  int n = 0;
  EXPECT_EQ(async_pair(9, legacy_token{&n}), &n);
  EXPECT_EQ(n, 9);
}

TEST(async_completion, makes_the_handler_and_the_result) {
  auto handler = [](int) {};
  weft::async_completion<decltype(handler)&, void(int)> plain(handler);
  plain.completion_handler(1);
  plain.result.get();
}

TEST(deferred, starts_nothing_until_it_is_called_and_again_when_copied) {
  int calls = 0;
  auto op = async_pair(8, weft::deferred);
  EXPECT_EQ(calls, 0);
  op([&](int n, const std::string&) { calls += n; });
  std::move(op)([&](int n, const std::string&) { calls += n; });
  EXPECT_EQ(calls, 16);
}

TEST(deferred, keeps_move_only_arguments) {
  auto op = weft::async_initiate<const weft::deferred_t&, void(int)>(
      [](auto handler, std::unique_ptr<int> p) { std::move(handler)(*p); }, weft::deferred,
      std::make_unique<int>(11));
  int result = 0;
  std::move(op)([&](int n) { result = n; });
  EXPECT_EQ(result, 11);
}

TEST(deferred, chains_functions_and_branches) {
  int result = 0;
  auto chain = async_pair(4, weft::deferred([](int n, std::string) {
                            return weft::deferred.when(n == 4)
                                .then(weft::deferred.values(n * 10))
                                .otherwise(weft::deferred.values(0));
                          }))(weft::deferred([](int n) { return async_pair(n, weft::deferred); }));
  static_assert(weft::is_deferred<decltype(chain)>::value);
  std::move(chain)([&](int n, const std::string& s) {
    result = n;
    EXPECT_EQ(s, "40");
  });
  EXPECT_EQ(result, 40);
}

TEST(deferred, chains_with_the_bar) {
  int result = 0;
  weft::deferred.values(1, 2) |
      weft::deferred([](int a, int b) { return weft::deferred.values(a + b); }) |
      [&](int n) { result = n; };
  EXPECT_EQ(result, 3);
}

TEST(deferred, tells_the_signatures_of_an_operation) {
  auto op = async_pair(1, weft::deferred);
  static_assert(weft::is_async_operation_v<decltype(op)>);
  static_assert(
      std::is_same_v<weft::completion_signature_of_t<decltype(op)>, void(int, std::string)>);
  auto initiating = [](int n, auto&& token) {
    return async_pair(n, std::forward<decltype(token)>(token));
  };
  static_assert(weft::async_operation<decltype(initiating), int>);
  static_assert(!weft::async_operation<decltype([](auto) { return 1; })>);
}

struct io_object {
  template <class Executor>
  struct rebind_executor {
    struct other {
      using executor_type = Executor;
      explicit other(io_object) {}
    };
  };
  using executor_type = weft_test::manual_context::executor_type;
};

TEST(default_completion_token, is_deferred_unless_the_executor_names_another) {
  using executor = weft_test::manual_context::executor_type;
  static_assert(std::is_same_v<weft::default_completion_token_t<executor>, weft::deferred_t>);
  using adapted = decltype(weft::deferred.as_default_on(io_object()));
  static_assert(
      std::is_same_v<weft::default_completion_token_t<adapted::executor_type>, weft::deferred_t>);
  static_assert(std::is_convertible_v<executor, adapted::executor_type>);
}

}  // namespace
