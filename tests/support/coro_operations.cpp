// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <weft/async/detached.hpp>
#include <weft/base/error.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/blocking.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/fiber.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/task_group.hpp>
#include <weft/coro/task_manager.hpp>
#include <weft/sync/async_event.hpp>

#include "support/operations.hpp"

namespace weft_test {
namespace {

using weft::io_context;

/// The operation waits for the end of what waits at a gate.
struct on_gate : operation_case {
  explicit on_gate(io_context& c) : context(c), gate(c, weft::event_reset::automatic) {}
  void satisfy() override { gate.set(); }
  weft::error_code fail() override {
    error = weft::error::connection_refused;
    gate.set();
    return error;
  }

  void check() const {
    if (error)
      throw weft::system_error(error);
  }
  void pass(weft::yield_context yield) {
    gate.async_wait(yield);
    check();
  }
  weft::awaitable<void> pass() {
    co_await gate.async_wait();
    check();
  }

  io_context& context;
  weft::async_event gate;
  weft::error_code error;
};

struct fiber_end : on_gate {
  using on_gate::on_gate;
  void start(probe p) override {
    weft::spawn(context, [this](weft::yield_context yield) { pass(yield); }, std::move(p));
  }
};

struct coroutine_end : on_gate {
  using on_gate::on_gate;
  void start(probe p) override { weft::co_spawn(context, pass(), std::move(p)); }
};

struct fiber_join : on_gate {
  using on_gate::on_gate;
  template <class Token>
  auto perform(Token&& token) {
    if (!fiber || fiber->has_ended())
      fiber.emplace(context, [this](weft::yield_context yield) { pass(yield); });
    return fiber->async_join(std::forward<Token>(token));
  }
  void cancel() override {
    if (fiber)
      fiber->cancel();
  }

  std::optional<weft::fiber> fiber;
};

/// To cancel the group is to end its children: a join reports no cancellation but its own.
struct group_join : on_gate {
  explicit group_join(io_context& c) : on_gate(c), group(c) {}
  template <class Token>
  auto perform(Token&& token) {
    if (group.size() == 0)
      group.spawn(pass());
    return group.async_join(std::forward<Token>(token));
  }

  weft::task_group group;
};

struct on_task_manager : on_gate {
  explicit on_task_manager(io_context& c) : on_gate(c), tasks(c) {}
  void begin() {
    if (!task || weft::has_ended(task.state()))
      task = tasks.start(pass());
  }

  weft::task_manager tasks;
  weft::task_handle<void> task;
};

/// It succeeds, whatever comes of the task.
struct task_wait : on_task_manager {
  using on_task_manager::on_task_manager;
  template <class Token>
  auto perform(Token&& token) {
    begin();
    return task.async_wait(std::forward<Token>(token));
  }
};

struct task_get : on_task_manager {
  using on_task_manager::on_task_manager;
  template <class Token>
  auto perform(Token&& token) {
    begin();
    return task.async_get(std::forward<Token>(token));
  }
  void cancel() override {
    if (task)
      task.kill();
  }
};

/// One child may run at a time: another one waits for its end. Children may outlive the case.
struct group_spawn : operation_case {
  explicit group_spawn(io_context& c)
      : gate(std::make_shared<weft::async_event>(c, weft::event_reset::automatic)),
        group(c, {.max_concurrency = 1}) {
    group.async_spawn(pass(gate), weft::detached);
  }
  template <class Token>
  auto perform(Token&& token) {
    return group.async_spawn(pass(gate), std::forward<Token>(token));
  }
  void satisfy() override { gate->set(); }
  static weft::awaitable<void> pass(std::shared_ptr<weft::async_event> at) {
    co_await at->async_wait();
  }

  std::shared_ptr<weft::async_event> gate;
  weft::task_group group;
};

/// It succeeds, whatever comes of the tasks.
struct manager_join : on_task_manager {
  using on_task_manager::on_task_manager;
  template <class Token>
  auto perform(Token&& token) {
    begin();
    return tasks.async_join(std::forward<Token>(token));
  }
};

/// A call begins at once, on a thread of its own, and cannot be cancelled then.
struct blocking_call : on_gate {
  using on_gate::on_gate;
  template <class Token>
  auto perform(Token&& token) {
    return weft::blocking(
        context,
        [ec = error] {
          if (ec)
            throw weft::system_error(ec);
        },
        std::forward<Token>(token));
  }
};

}  // namespace

std::span<const operation_family> coro_operation_families() {
  constexpr bool pends = true, satisfiable = true, cancels = true, no = false;
  constexpr auto fails = failure::by_fail, none = failure::none;
  constexpr auto own_memory = memory_source::own;
  static const std::vector<operation_family> families{
      {"coroutine_end", pends, satisfiable, no, fails, make<coroutine_end>},
      {"fiber_end", pends, satisfiable, no, fails, make<fiber_end>, own_memory},
      {"fiber_join", pends, satisfiable, cancels, fails, make<fiber_join>},
      {"group_join", pends, satisfiable, no, fails, make<group_join>},
      {"group_spawn", pends, satisfiable, no, none, make<group_spawn>},
      {"task_wait", pends, satisfiable, no, none, make<task_wait>},
      {"task_get", pends, satisfiable, cancels, fails, make<task_get>},
      {"manager_join", pends, satisfiable, no, none, make<manager_join>},
      {"blocking_call", no, satisfiable, no, fails, make<blocking_call>},
  };
  return families;
}

}  // namespace weft_test
