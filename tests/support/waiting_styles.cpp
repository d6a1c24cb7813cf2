// SPDX-License-Identifier: BSL-1.0
#include "support/waiting_styles.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <utility>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/base/error.hpp>
#include <weft/context/strand.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/this_coro.hpp>
#include <weft/coro/use_awaitable.hpp>
#include <weft/sync/as_future.hpp>

namespace weft_test {
namespace {

using weft::any_io_executor;
using weft::awaitable;
using weft::bind_cancellation_slot;
using weft::cancellation_slot;
using weft::error_code;

void callback(operation_case& object, wait_outcome& outcome, any_io_executor executor,
              cancellation_slot slot) {
  async_perform(object, outcome.operation, executor,
                bind_cancellation_slot(slot, [w = waiting(outcome)](error_code ec) { w.end(ec); }));
}

template <class Future>
void look_at(Future& future, const waiting& w) {
  if (!future.valid() || future.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;
  error_code ec;
  try {
    future.get();
  } catch (const weft::system_error& e) {
    ec = e.code();
  } catch (const std::future_error&) {
    return;  // the promise is gone: the wait has been let go
  }
  w.end(ec);
}

void future(operation_case& object, wait_outcome& outcome, any_io_executor executor,
            cancellation_slot slot) {
  auto f = std::make_shared<std::future<void>>(async_perform(
      object, outcome.operation, executor, bind_cancellation_slot(slot, weft::use_future)));
  outcome.look = [f, w = waiting(outcome)] { look_at(*f, w); };
}

awaitable<void> wait_in_coroutine(operation_case& object, wait_outcome& outcome,
                                  any_io_executor executor) {
  const waiting w(outcome);
  error_code ec;
  try {
    co_await async_perform(object, outcome.operation, executor, weft::deferred);
  } catch (const weft::system_error& e) {
    ec = e.code();
  }
  w.end(ec);
}

void coroutine(operation_case& object, wait_outcome& outcome, any_io_executor executor,
               cancellation_slot slot) {
  weft::co_spawn(executor, wait_in_coroutine(object, outcome, executor),
                 bind_cancellation_slot(slot, weft::detached));
}

/// The operation in a coroutine of its own, two calls deep.
awaitable<void> wait_in_called_coroutine(operation_case& object, wait_outcome& outcome,
                                         any_io_executor executor) {
  const waiting w(outcome);
  error_code ec;
  try {
    co_await async_perform(object, outcome.operation, executor, weft::use_awaitable);
  } catch (const weft::system_error& e) {
    ec = e.code();
  }
  w.end(ec);
}

void called_coroutine(operation_case& object, wait_outcome& outcome, any_io_executor executor,
                      cancellation_slot slot) {
  weft::co_spawn(executor, wait_in_called_coroutine(object, outcome, executor),
                 bind_cancellation_slot(slot, weft::detached));
}

void weft_future(operation_case& object, wait_outcome& outcome, any_io_executor executor,
                 cancellation_slot slot) {
  const weft::shared_future<void> result =
      async_perform(object, outcome.operation, executor, weft::as_future).share();
  if (slot.is_connected())
    slot.assign([result](weft::cancellation_type) { result.request_cancel(); });
  result.attach_callback(
      executor, [w = waiting(outcome), slot](const weft::shared_future<void>& ready) mutable {
        slot.clear();
        error_code ec;
        try {
          ready.get();
        } catch (const weft::system_error& e) {
          ec = e.code();
        }
        w.end(ec);
      });
}

void fiber(operation_case& object, wait_outcome& outcome, any_io_executor executor,
           cancellation_slot slot) {
  const auto function = [&object, &outcome, executor](weft::yield_context yield) {
    const waiting w(outcome);
    error_code ec;
    try {
      async_perform(object, outcome.operation, executor, yield);
    } catch (const weft::system_error& e) {
      ec = e.code();
    }
    w.end(ec);
  };
  weft::spawn(executor, function, bind_cancellation_slot(slot, weft::detached));
}

/// The error into a variable.
void fiber_with_code(operation_case& object, wait_outcome& outcome, any_io_executor executor,
                     cancellation_slot slot) {
  const auto function = [&object, &outcome, executor](weft::yield_context yield) {
    const waiting w(outcome);
    error_code ec;
    try {
      async_perform(object, outcome.operation, executor, yield[ec]);
    } catch (const weft::system_error& e) {  // it was cancelled before
      ec = e.code();
    }
    w.end(ec);
  };
  weft::spawn(executor, function, bind_cancellation_slot(slot, weft::detached));
}

direct_wait& directly(operation_case& object, wait_outcome& outcome) {
  outcome.handlers = 0;
  return dynamic_cast<direct_wait&>(object);
}

awaitable<void> wait_directly(direct_wait& operation, wait_outcome& outcome) {
  const waiting w(outcome);
  error_code ec;
  try {
    ec = co_await operation.wait();
  } catch (const weft::system_error& e) {
    ec = e.code();
  }
  const weft::cancellation_state state = co_await weft::this_coro::cancellation_state;
  EXPECT_FALSE(state.slot().has_handler()) << "of an operation that has ended";
  w.end(ec);
}

void direct_coroutine(operation_case& object, wait_outcome& outcome, any_io_executor executor,
                      cancellation_slot slot) {
  weft::co_spawn(executor, wait_directly(directly(object, outcome), outcome),
                 bind_cancellation_slot(slot, weft::detached));
}

void direct_fiber(operation_case& object, wait_outcome& outcome, any_io_executor executor,
                  cancellation_slot slot) {
  const auto function = [&operation = directly(object, outcome),
                         &outcome](weft::yield_context yield) {
    const waiting w(outcome);
    error_code ec;
    try {
      ec = operation.wait(yield);
    } catch (const weft::system_error& e) {
      ec = e.code();
    }
    EXPECT_FALSE(yield.get_cancellation_slot().has_handler()) << "of an operation that has ended";
    w.end(ec);
  };
  weft::spawn(executor, function, bind_cancellation_slot(slot, weft::detached));
}

/// In an executor that is not native, where the operation has a handler after all.
template <auto Start>
void on_strand(operation_case& object, wait_outcome& outcome, any_io_executor executor,
               cancellation_slot slot) {
  Start(object, outcome, weft::make_strand(executor), slot);
}

constexpr bool is_direct = true;
const std::array styles{
    waiting_style{"callback", callback},
    waiting_style{"std::future", future},
    waiting_style{"coroutine", coroutine},
    waiting_style{"called coroutine", called_coroutine},
    waiting_style{"weft::future", weft_future},
    waiting_style{"fiber", fiber},
    waiting_style{"fiber with an error code", fiber_with_code},
    waiting_style{"coroutine without a handler", direct_coroutine, is_direct},
    waiting_style{"coroutine on a strand", on_strand<direct_coroutine>, is_direct},
    waiting_style{"fiber without a handler", direct_fiber, is_direct},
    waiting_style{"fiber on a strand", on_strand<direct_fiber>, is_direct},
};

}  // namespace

std::span<const waiting_style> waiting_styles() {
  return styles;
}

}  // namespace weft_test
