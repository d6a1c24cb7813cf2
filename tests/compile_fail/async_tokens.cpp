// SPDX-License-Identifier: BSL-1.0
// A token fits the operation's signature, whatever it is made of; executors, slots and signatures
// are what they are taken for.
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/append.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/compose.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/prepend.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/strand.hpp>
#include <weft/io/cancel_after.hpp>
#include <weft/io/steady_timer.hpp>

using weft::error_code;

struct immovable {
  immovable() = default;
  immovable(const immovable&) = delete;
};

struct answer {
  template <class Handler, class... Argument>
  void operator()(Handler&&, Argument&&...) const {}
};

/// An operation of any signature.
template <class Signature, class Token, class... Argument>
auto ask(Token&& token, Argument&&... argument) {
  return weft::async_initiate<Token, Signature>(answer(), token,
                                                std::forward<Argument>(argument)...);
}

int main() {
  using std::unique_ptr;
  weft::io_context context;
  weft::steady_timer timer(context);
  weft::cancellation_signal signal;
  error_code ec;
  auto strand = weft::make_strand(context);
  const auto wait_handler = [](error_code) {};

  timer.async_wait(weft::bind_executor(strand, wait_handler));
  timer.async_wait(weft::bind_cancellation_slot(signal.slot(), wait_handler));
  timer.async_wait(weft::as_tuple([](std::tuple<error_code>) {}));
  timer.async_wait(weft::redirect_error([] {}, ec));
  timer.async_wait(weft::append([](error_code, int) {}, 1));
  timer.async_wait(weft::prepend([](int, error_code) {}, 1));
  timer.async_wait(weft::cancel_after(std::chrono::seconds(1), wait_handler));
  std::future<void> waited = timer.async_wait(weft::use_future);
  std::future<std::string> text = ask<void(error_code, std::string)>(weft::use_future);
  std::future<int> length = timer.async_wait(weft::use_future([](error_code) { return 1; }));
  auto once = ask<void(error_code)>(weft::deferred, unique_ptr<int>());
  std::move(once)(wait_handler);
  auto often = timer.async_wait(weft::deferred);
  often(wait_handler);
  often(wait_handler);
  timer.async_wait(weft::deferred([&](error_code) { return timer.async_wait(weft::deferred); }))(
      wait_handler);
  weft::any_completion_handler<void(error_code)> any = wait_handler;
  weft::async_compose<decltype(wait_handler), void(error_code)>(
      [](auto& self, error_code result = {}) { self.complete(result); }, wait_handler, timer);
  auto either = [](auto&& token) {
    return weft::async_initiate<decltype(token), void(error_code), void(int)>(answer(), token);
  };
  either([](auto) {});
  either(weft::deferred)([](auto) {});

#if WEFT_BAD == 1
  // bad 1: no matching function for call to .{0,8}bind_executor
  timer.async_wait(weft::bind_executor(7, wait_handler));
#elif WEFT_BAD == 2
  // bad 2: no matching function for call to .{0,8}bind_executor
  timer.async_wait(weft::bind_executor(wait_handler, strand));
#elif WEFT_BAD == 3
  // bad 3: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::bind_executor(strand, [](std::string) {}));
#elif WEFT_BAD == 4
  // bad 4: deleted (function|constructor of) .{0,4}weft::cancellation_signal
  timer.async_wait(weft::bind_cancellation_slot(signal, wait_handler));
#elif WEFT_BAD == 5
  // bad 5: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::as_tuple(wait_handler));
#elif WEFT_BAD == 6
  // bad 6: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::redirect_error(wait_handler, ec));
#elif WEFT_BAD == 7
  // bad 7: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::append(wait_handler, 1));
#elif WEFT_BAD == 8
  // bad 8: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::cancel_after(std::chrono::seconds(1), [](std::string) {}));
#elif WEFT_BAD == 9
  // bad 9: a future carries results that can be moved or copied into it
  ask<void(error_code, immovable)>(weft::use_future);
#elif WEFT_BAD == 10
  // bad 10: conver
  std::future<int> wrong = timer.async_wait(weft::use_future);
#elif WEFT_BAD == 11
  // bad 11: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::use_future([](std::string) { return 1; }));
#elif WEFT_BAD == 12
  // bad 12: deleted
  once(wait_handler);
#elif WEFT_BAD == 13
  // bad 13: no match(ing function)? for call to (object|.\(weft::deferred_async_operation)
  often([](std::string) {});
#elif WEFT_BAD == 14
  // bad 14: (completion_token_for|completion_handler_for|token_or_handler_for)<
  timer.async_wait(weft::deferred([&](std::string) { return timer.async_wait(weft::deferred); }))(
      wait_handler);
#elif WEFT_BAD == 15
  // bad 15: conversion from|no viable conversion
  weft::any_completion_handler<void(error_code)> other = [](std::string) {};
#elif WEFT_BAD == 16
  // bad 16: deleted
  auto copy = any;
#elif WEFT_BAD == 17
  // bad 17: completion_signature
  ask<int>(wait_handler);
#elif WEFT_BAD == 18
  // bad 18: (cannot convert|could not convert|no viable conversion) .{0,40}char
  weft::async_compose<decltype(wait_handler), void(error_code)>(
      [](auto& self, error_code = {}) { self.complete("done"); }, wait_handler, timer);
#elif WEFT_BAD == 19
  // bad 19: a future carries results that can be moved or copied into it
  ask<void(error_code, int, immovable)>(weft::use_future);
#elif WEFT_BAD == 20
  // bad 20: no matching function for call to
  either(weft::use_future);
#endif
}
