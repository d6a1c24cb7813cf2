// SPDX-License-Identifier: BSL-1.0
#include <weft/observe/dump_tasks.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <weft/base/error.hpp>
#include <weft/base/task_record.hpp>

#include "observe/symbols.hpp"

namespace WEFT_NAMESPACE {
namespace observe {
namespace {

/// What is copied of a task while it is held up.
struct copied_task {
  std::uint64_t id;
  const char* style;
  std::source_location spawned;
  const char* waits_for;
  std::vector<std::source_location> calls;
  std::vector<void*> stack;
};

using copied_tasks = std::vector<copied_task>;

void copy(void* to, std::span<const detail::task_slot> slots) {
  auto& copied = *static_cast<copied_tasks*>(to);
  for (const detail::task_slot& slot : slots) {
    const detail::task_record* const task = detail::task_record::in(slot);
    if (!task)
      continue;
    copied_task& c = copied.emplace_back(
        copied_task{slot.id, slot.kind->name, slot.spawned, task->waits_for(), {}, {}});
    if (!c.waits_for)
      continue;
    std::array<std::source_location, task_snapshot::most_calls + 1> calls;
    const auto end = calls.begin() + slot.kind->calls(*task, calls);
    c.calls.assign(calls.begin(), end);
    if (!slot.kind->stack)
      continue;
    std::array<void*, task_snapshot::most_calls + 1> stack;
    c.stack.assign(stack.begin(), stack.begin() + slot.kind->stack(*task, stack));
  }
}

/// Whether there are more calls than are told of; takes the one that shows it.
template <class Calls>
bool cut(Calls& calls) {
  const bool has_more = calls.size() > task_snapshot::most_calls;
  if (has_more)
    calls.pop_back();
  return has_more;
}

/// Without the arguments of templates that are arguments of templates.
std::string without_inner_arguments(std::string_view type) {
  std::string brief;
  int depth = 0;
  for (const char c : type) {
    depth -= c == '>';
    const bool is_bracket = c == '<' || c == '>';
    if (c == '>' && depth == 0 && brief.ends_with(' '))
      brief.pop_back();
    if (depth < (is_bracket ? 1 : 2))
      brief += c;
    depth += c == '<';
  }
  return brief;
}

/// The name of a function. GCC calls a coroutine `f` what it makes of it: "void f(...Frame*)".
std::string_view function_name(const std::source_location& where) {
  std::string_view name = where.function_name();
  constexpr std::string_view before = "void ";
  if (!name.starts_with(before) || !name.ends_with(".Frame*)"))
    return name;
  int depth = 0;
  for (std::size_t i = name.size(); i-- != 0;) {
    depth += (name[i] == ')') - (name[i] == '(');
    if (depth == 0)
      return name.substr(before.size(), i - before.size());
  }
  return name;
}

/// Whether it is in the coroutine that use_awaitable makes of an operation.
bool is_of_use_awaitable(const std::source_location& where) {
  return std::string_view(where.file_name()).ends_with("/weft/coro/use_awaitable.hpp");
}

void append(std::string& text, const char* how, const std::source_location& where) {
  text += how;
  text += function_name(where);
  text += ", ";
  text += where.file_name();
  text += ':';
  text += std::to_string(where.line());
  text += '\n';
}

}  // namespace

std::string to_string(const task_snapshot& task) {
  std::string text = task.style;
  text += ' ';
  if (const std::uint64_t thread = task.id >> 40)
    text += std::to_string(thread) + '.';
  text += std::to_string(task.id & ((std::uint64_t{1} << 40) - 1));
  if (task.is_waiting)
    text += " waits for " + without_inner_arguments(task.waits_for);
  else
    text += " runs";
  text += '\n';
  for (const std::source_location& call : task.calls)
    append(text, "  at ", call);
  for (const stack_frame& call : task.stack)
    text += "  at " + to_string(call_stack{call});
  if (task.has_more_calls)
    text += "  ...\n";
  append(text, "  spawned by ", task.spawned);
  return text;
}

std::vector<task_snapshot> tasks() {
  copied_tasks copied;
  if (!detail::task_slots::read(&copy, &copied))
    throw system_error(error::no_permission, "observe::tasks: membarrier");
  std::sort(copied.begin(), copied.end(),
            [](const copied_task& a, const copied_task& b) { return a.id < b.id; });
  std::vector<task_snapshot> tasks;
  symbols names;
  tasks.reserve(copied.size());
  for (copied_task& c : copied) {
    const bool has_more = cut(c.calls) || cut(c.stack);
    std::erase_if(c.calls, &is_of_use_awaitable);
    tasks.push_back({.id = c.id,
                     .style = c.style,
                     .spawned = c.spawned,
                     .is_waiting = c.waits_for != nullptr,
                     .waits_for = c.waits_for ? type_name(c.waits_for) : std::string(),
                     .calls = std::move(c.calls),
                     .stack = names.name_calls_between(c.stack),
                     .has_more_calls = has_more});
  }
  return tasks;
}

}  // namespace observe

std::string dump_tasks() {
  std::string text;
  for (const observe::task_snapshot& task : observe::tasks())
    text += to_string(task);
  return text;
}

void dump_tasks(std::FILE* to) {
  const std::string text = dump_tasks();
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

void record_tasks(bool on) noexcept {
  detail::task_slots::recorded.store(on, std::memory_order_relaxed);
}

}  // namespace WEFT_NAMESPACE
