// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weft/async/append.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/consign.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/prepend.hpp>
#include <weft/async/redirect_disposition.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/execution/system_executor.hpp>

// A token made of another one asks that one whether it accepts a signature: where it does not, the
// answer is no, and not an error. Overloads that differ in their signatures live by it.
namespace {

using weft::error_code;

/// A handler for exactly these arguments.
template <class... Args>
struct handler {
  void operator()(Args...) {}
};

/// A handler that can only be moved.
template <class... Args>
struct move_only_handler : handler<Args...> {
  std::unique_ptr<int> data;
};

/// `Right` is accepted and `Wrong` is not, by the token as a value and as a reference.
template <class Token, class Right, class Wrong>
constexpr bool tells_apart =
    weft::completion_token_for<Token, Right> && weft::completion_token_for<Token&, Right> &&
    weft::completion_token_for<const Token&, Right> && !weft::completion_token_for<Token, Wrong> &&
    !weft::completion_token_for<Token&, Wrong> && !weft::completion_token_for<const Token&, Wrong>;

using one = void(error_code);
using two = void(error_code, int);
using three = void(error_code, int, std::string);

using on_one = handler<error_code>;
using on_two = handler<error_code, int>;

template <class Token>
using bound_executor = weft::executor_binder<Token, weft::system_executor>;
template <class Token>
using bound_allocator = weft::allocator_binder<Token, std::allocator<int>>;
template <class Token>
using bound_slot = weft::cancellation_slot_binder<Token, weft::cancellation_slot>;
template <class Token>
using bound_immediate = weft::immediate_executor_binder<Token, weft::inline_executor>;

static_assert(tells_apart<on_two, two, one>);
static_assert(tells_apart<bound_executor<on_two>, two, one>);
static_assert(tells_apart<bound_allocator<on_two>, two, one>);
static_assert(tells_apart<bound_slot<on_two>, two, one>);
static_assert(tells_apart<bound_immediate<on_two>, two, one>);
static_assert(tells_apart<weft::consign_t<on_two, std::string>, two, three>);
static_assert(tells_apart<weft::append_t<on_two, int>, one, two>);
static_assert(tells_apart<weft::prepend_t<on_two, error_code>, void(int), two>);
static_assert(tells_apart<weft::as_tuple_t<handler<std::tuple<error_code, int>>>, two, one>);
static_assert(tells_apart<weft::redirect_error_t<handler<int>>, two, one>);
static_assert(
    tells_apart<weft::redirect_disposition_t<handler<int>, std::exception_ptr>, two, one>);

// Adapters of adapters.
static_assert(tells_apart<bound_executor<bound_slot<on_two>>, two, one>);
static_assert(tells_apart<bound_executor<weft::append_t<on_two, int>>, one, two>);
static_assert(tells_apart<weft::append_t<bound_executor<on_two>, int>, one, two>);
static_assert(
    tells_apart<weft::as_tuple_t<weft::append_t<handler<std::tuple<error_code, int>, char>, char>>,
                two, one>);
static_assert(
    tells_apart<weft::consign_t<weft::redirect_error_t<bound_allocator<handler<int>>>, int>, two,
                three>);

// Handlers that can only be moved.
static_assert(tells_apart<bound_executor<move_only_handler<error_code, int>>, two, one>);
static_assert(tells_apart<weft::append_t<move_only_handler<error_code, int>, int>, one, two>);

// Several signatures: all of them must be accepted.
static_assert(weft::completion_token_for<bound_executor<weft::detached_t>, one, two>);
static_assert(!weft::completion_token_for<bound_executor<on_two>, one, two>);
static_assert(!weft::completion_token_for<bound_executor<on_two>, two, three>);

// Adapters of tokens that accept everything.
static_assert(weft::completion_token_for<bound_executor<weft::deferred_t>, three>);
static_assert(weft::completion_token_for<bound_executor<weft::use_future_t<>>, three>);
static_assert(weft::completion_token_for<weft::as_tuple_t<weft::detached_t>, three>);
static_assert(weft::completion_token_for<weft::partial_as_tuple, three>);
static_assert(weft::completion_token_for<weft::partial_redirect_error, three>);
static_assert(
    weft::completion_token_for<weft::partial_executor_binder<weft::system_executor>, three>);

// What is no token at all.
static_assert(!weft::completion_token_for<bound_executor<int>, one>);
static_assert(!weft::completion_token_for<weft::append_t<int, int>, one>);

// Functions given to use_future and deferred.
using packaged = decltype(weft::use_future(on_two()));
static_assert(tells_apart<packaged, two, one>);
static_assert(tells_apart<bound_executor<packaged>, two, one>);

struct continuation {
  auto operator()(error_code, int) const { return weft::deferred.values(1); }
};
using chain = decltype(weft::deferred(continuation()));
static_assert(tells_apart<chain, two, one>);
static_assert(tells_apart<bound_executor<chain>, two, one>);

/// Two initiating functions of one name.
struct object {
  template <weft::completion_token_for<one> Token>
  auto async_go(Token&& token) {
    return weft::async_initiate<Token, one>([](auto h) { std::move(h)(error_code()); }, token);
  }
  template <weft::completion_token_for<two> Token>
  auto async_go(Token&& token) {
    return weft::async_initiate<Token, two>([](auto h) { std::move(h)(error_code(), 2); }, token);
  }
};

TEST(adapted_token, chooses_among_overloads_by_its_target) {
  int ones = 0;
  int twos = 0;
  auto hear_one = [&](error_code) { ++ones; };
  auto hear_two = [&](error_code, int) { ++twos; };
  object o;
  o.async_go(weft::bind_executor(weft::inline_executor(), hear_one));
  o.async_go(weft::bind_executor(weft::inline_executor(), hear_two));
  o.async_go(weft::consign(hear_one, 1));
  o.async_go(weft::append([&](error_code, int, char) { ++twos; }, 'x'));
  o.async_go(weft::as_tuple([&](std::tuple<error_code, int>) { ++twos; }));
  error_code ec;
  o.async_go(weft::redirect_error([&](int) { ++twos; }, ec));
  EXPECT_EQ(ones, 2);
  EXPECT_EQ(twos, 4);
}

}  // namespace
