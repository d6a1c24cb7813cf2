// SPDX-License-Identifier: BSL-1.0
// The search through all executions, and the virtual threads of one.
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "model/checker/engine.hpp"

namespace model {
namespace detail {

engine& engine::instance() {
  static engine the_one;
  return the_one;
}

engine::engine() {
  for (int i = 0; i != max_threads; ++i) {
    auto& start = starts_[static_cast<std::size_t>(i)];
    start = {this, i};
    fibers_[static_cast<std::size_t>(i)] = std::make_unique<fiber>(&run_thread, &start);
  }
}

// ---- the search

result engine::explore(const options& limits, const std::function<void()>& scenario) {
  limits_ = limits;
  random_.seed(limits.seed);
  result r;
  const auto failed = [&](std::string reason) {
    r.failed = true;
    r.reason = std::move(reason);
    r.schedule = schedule();
    r.trace = trace();
    return r;
  };

  if (!limits.replay.empty()) {
    path_.clear();
    std::istringstream in(limits.replay);
    char slash = 0;
    in >> limits_.preemptions >> slash >> limits_.weak_choices >> slash;
    for (std::string part; std::getline(in, part, '.');)
      path_.push_back({static_cast<std::uint32_t>(std::strtoul(part.c_str(), nullptr, 10)), 0});
    run_execution(scenario);
    r.executions = 1;
    return failed_ ? failed(reason_) : r;
  }
  if (limits.random_executions != 0) {
    while (r.executions++ != limits.random_executions) {
      path_.clear();
      run_execution(scenario);
      if (failed_)
        return failed(reason_);
    }
    return r;
  }
  for (int bound = 0; bound <= limits.preemptions; ++bound) {
    limits_.preemptions = bound;
    path_.clear();
    do {
      if (r.executions++ == limits.max_executions)
        return failed("not explored: more executions than max_executions = " +
                      std::to_string(limits.max_executions));
      run_execution(scenario);
      if (failed_)
        return failed(reason_);
    } while (advance());
  }
  return r;
}

/// Goes to the next execution: another choice at the last place that has one left.
bool engine::advance() {
  while (!path_.empty() && path_.back().taken + 1 == path_.back().count)
    path_.pop_back();
  if (path_.empty())
    return false;
  ++path_.back().taken;
  return true;
}

void engine::run_execution(const std::function<void()>& scenario) {
  depth_ = 0;
  steps_ = 0;
  preemptions_left_ = limits_.preemptions;
  weak_choices_left_ = limits_.weak_choices;
  events_.clear();
  locations_.clear();
  mutexes_.clear();
  waiters_.clear();
  passed_by_light_ = passed_by_heavy_ = knowledge();
  if (std::exchange(failed_, false))
    for (auto& f : fibers_)
      f->restart();
  for (auto& t : threads_)
    t = virtual_thread();
  started_ = 0;
  start_thread(scenario);
  running_ = 0;
  for (std::size_t i = 0; i != thread_local_slots.size(); ++i)
    *thread_local_slots[i] = nullptr;
  const ignore_leaks while_it_runs;
  host_.switch_to(*fibers_[0]);
  running_ = -1;
}

unsigned engine::choose(unsigned count) {
  if (count <= 1)
    return 0;
  if (depth_ == path_.size()) {
    std::uint32_t taken = 0;
    if (limits_.random_executions != 0 && random_() % 3 == 0)
      taken = static_cast<std::uint32_t>(random_() % count);
    path_.push_back({taken, count});
  }
  choice& c = path_[depth_++];
  if (c.count == 0)
    c.count = count;  // replayed
  if (c.count != count || c.taken >= count)
    fail("the scenario is not deterministic: the same choices led elsewhere");
  return c.taken;
}

void engine::fail(std::string reason) {
  failed_ = true;
  reason_ = std::move(reason);
  self().what = state::finished;
  fibers_[static_cast<std::size_t>(running_)]->switch_to(host_);
  std::abort();
}

/// The bounds and the choices.
std::string engine::schedule() const {
  std::string text =
      std::to_string(limits_.preemptions) + "/" + std::to_string(limits_.weak_choices) + "/";
  for (std::size_t i = 0; i != std::min(depth_, path_.size()); ++i)
    text += (i ? "." : "") + std::to_string(path_[i].taken);
  return text;
}

void engine::record(const event& e) {
  events_.push_back(e);
}

std::string engine::trace() const {
  std::ostringstream out;
  const auto value = [&](std::uint64_t v) {
    if (v > 0xffff)
      out << "0x" << std::hex << v << std::dec;
    else
      out << v;
  };
  std::size_t n = 0;
  for (const event& e : events_) {
    out << "  " << ++n << ". ";
    for (int i = 0; i != e.thread; ++i)
      out << "        ";
    out << "T" << e.thread << " " << e.object;
    if (*e.object)
      out << e.id << ".";
    out << e.operation << "(";
    if (e.has_operand)
      value(e.operand);
    if (e.has_operand && *e.order)
      out << ", ";
    out << e.order << ")";
    if (e.has_result) {
      out << " = ";
      value(e.result);
    }
    if (*e.note)
      out << " [" << e.note << "]";
    if (e.where.line() != 0) {
      const std::string file = e.where.file_name();
      out << "   " << file.substr(file.rfind('/') + 1) << ":" << e.where.line();
    }
    out << "\n";
  }
  return out.str();
}

// ---- threads

void engine::run_thread(void* argument) {
  const fiber_start& start = *static_cast<fiber_start*>(argument);
  for (;;) {
    try {
      start.self->self().body();
    } catch (const std::exception& e) {
      start.self->fail(std::string("an exception left a thread: ") + e.what());
    } catch (...) {
      start.self->fail("an exception left a thread");
    }
    start.self->self().what = state::finished;
    start.self->reschedule();
  }
}

int engine::start_thread(std::function<void()> body) {
  if (started_ == max_threads)
    fail("more threads than the checker has");
  const std::size_t index = started_++;
  virtual_thread& t = threads_[index];
  t.what = state::ready;
  t.body = std::move(body);
  t.locals.assign(thread_local_slots.size(), nullptr);
  if (index != 0) {
    t.known = self().known;
    tick();
  }
  t.known.clock[index] = 1;
  return static_cast<int>(index);
}

void engine::join(int thread) {
  self().joined = thread;
  self().what = state::joining;
  step();
  self().what = state::ready;
  learn(self().known, threads_[static_cast<std::size_t>(thread)].known);
}

bool engine::can_run(const virtual_thread& t) const noexcept {
  switch (t.what) {
    case state::ready:
    case state::waiting_or_timeout: return true;
    case state::locking: return t.lock->owner < 0;
    case state::joining:
      return threads_[static_cast<std::size_t>(t.joined)].what == state::finished;
    case state::waiting:
    case state::finished: return false;
  }
  return false;
}

/// Before a visible operation of the running thread: others may go first.
void engine::step() {
  if (++steps_ > limits_.max_steps)
    fail("livelock: more than " + std::to_string(limits_.max_steps) + " operations");
  for (std::size_t i = 0; i != started_; ++i)
    if (static_cast<int>(i) != running_)
      threads_[i].has_yielded = false;
  reschedule();
}

void engine::yield() {
  self().has_yielded = true;
  step();
  self().has_yielded = false;
}

void engine::reschedule() {
  std::array<int, max_threads> next;
  unsigned n = 0;
  const bool goes_on = can_run(self()) && !self().has_yielded;
  if (goes_on)
    next[n++] = running_;
  if (!goes_on || preemptions_left_ > 0)
    for (std::size_t i = 0; i != started_; ++i)
      if (static_cast<int>(i) != running_ && can_run(threads_[i]) && !threads_[i].has_yielded)
        next[n++] = static_cast<int>(i);
  if (n == 0)
    for (std::size_t i = 0; i != started_; ++i)
      if (can_run(threads_[i]))
        next[n++] = static_cast<int>(i);
  if (n == 0) {
    for (std::size_t i = 0; i != started_; ++i)
      if (threads_[i].what != state::finished)
        fail("deadlock: every thread waits");
    fibers_[static_cast<std::size_t>(running_)]->switch_to(host_);
    return;
  }
  const unsigned taken = choose(n);
  if (goes_on && taken != 0)
    --preemptions_left_;
  switch_to(next[taken]);
}

void engine::switch_to(int next) {
  if (next == running_)
    return;
  const auto from = static_cast<std::size_t>(running_);
  const auto to = static_cast<std::size_t>(next);
  for (std::size_t i = 0; i != thread_local_slots.size(); ++i) {
    threads_[from].locals[i] = *thread_local_slots[i];
    *thread_local_slots[i] = threads_[to].locals[i];
  }
  running_ = next;
  fibers_[from]->switch_to(*fibers_[to]);
}

}  // namespace detail

// ---- for scenarios

std::string result::message() const {
  if (!failed)
    return "no failure in " + std::to_string(executions) + " executions";
  return reason + "\nafter " + std::to_string(executions) + " executions, in this one:\n" + trace +
         "replay with options{.replay = \"" + schedule + "\"}\n";
}

result explore(const options& limits, const std::function<void()>& scenario) {
  return detail::engine::instance().explore(limits, scenario);
}

void require(bool condition, std::string_view otherwise) {
  if (!condition)
    detail::engine::instance().fail(std::string(otherwise));
}

unsigned choose(unsigned count) {
  return detail::engine::instance().choose(count);
}

thread::thread(std::function<void()> body)
    : index_(detail::engine::instance().start_thread(std::move(body))) {}

thread::thread(thread&& other) noexcept : index_(std::exchange(other.index_, -1)) {}

thread::~thread() {
  join();
}

void thread::join() {
  if (index_ >= 0)
    detail::engine::instance().join(std::exchange(index_, -1));
}

int this_thread() {
  return detail::engine::instance().running();
}

void yield() {
  detail::engine::instance().yield();
}

void make_thread_local(void** slot) {
  auto& slots = detail::engine::instance().thread_local_slots;
  if (std::find(slots.begin(), slots.end(), slot) == slots.end())
    slots.push_back(slot);
}

}  // namespace model
