// SPDX-License-Identifier: BSL-1.0
#include <weft/observe/stall_detector.hpp>

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <weft/base/clock.hpp>

#include "base/home_process.hpp"
#include "context/scheduler/scheduler.hpp"
#include "observe/origins.hpp"
#include "observe/stack_signal.hpp"
#include "observe/stall_watch.hpp"
#include "observe/symbols.hpp"

namespace WEFT_NAMESPACE::observe {
namespace {

std::string indented(const std::string& lines) {
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    text += "    " + line + "\n";
  return text;
}

void write_to_stderr(const stall& s) {
  std::fputs(to_string(s).c_str(), stderr);
}

}  // namespace

std::string to_string(const stall& s) {
  std::ostringstream text;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(s.duration).count();
  text << "weft: stall " << s.id << (s.has_ended ? " has ended: " : ": ") << s.handler
       << (s.has_ended ? " held thread " : " holds thread ") << s.thread << " for " << ms
       << " ms\n";
  if (s.has_ended)
    return text.str();
  if (!s.origin.empty())
    text << "  started at\n" << indented(to_string(s.origin));
  if (!s.stack.empty())
    text << "  is at\n" << indented(to_string(s.stack));
  return text.str();
}

/// The detector's thread. Lock order: the right to ask for a stack, the scheduler's mutex, mutex_.
class stall_detector::watcher final : private detail::observer {
 public:
  watcher(detail::scheduler& scheduler, const stall_detector_options& options, callback report)
      : scheduler_(scheduler),
        interval_(std::max(options.limit, min_limit) / 4),
        watch_(std::max(options.limit, min_limit).count()),
        report_(report ? std::move(report) : callback(&write_to_stderr)) {
    if (options.signal_number >= 0)
      signal_.emplace(options.signal_number == 0 ? SIGURG : options.signal_number);
    if (options.origins) {
      origins_.emplace();
      scheduler_.begin_origins();
    }
    scheduler_.add(*this);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (...) {
      end();
      throw;
    }
  }

  ~watcher() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
    end();
  }

  /// Whether the thread is of this process, not of the parent of a fork.
  bool is_here() const noexcept { return process_.is_here(); }

 private:
  static constexpr std::chrono::nanoseconds min_limit = std::chrono::milliseconds(1);

  /// A worker that was found stalled, as it was seen.
  struct finding {
    const detail::scheduler* scheduler;
    std::uint64_t worker;
    std::uint64_t handlers;
    std::thread::id thread;
    detail::operation::function running;
    const void* origin;
  };

  void end() noexcept {
    scheduler_.remove(*this);
    if (origins_)
      scheduler_.end_origins();
  }

  void on_awake() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      is_awake_ = true;
    }
    changed_.notify_one();
  }

  void run() noexcept {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        is_awake_ = false;
      }
      const bool all_asleep = scheduler_.all_asleep(*this);
      if (all_asleep)
        look();
      std::unique_lock lock(mutex_);
      if (all_asleep)
        changed_.wait(lock, [this] { return is_ending_ || is_awake_; });
      else
        changed_.wait_for(lock, interval_, [this] { return is_ending_; });
      if (is_ending_)
        return;
      lock.unlock();
      look();
    }
  }

  // A report that there is no memory for is left out, alone; nothing else here may throw.

  void look() noexcept {
    std::vector<finding> found;
    watch_.begin(detail::steady_now());
    scheduler_.look([&](const detail::worker& w) {
      if_memory_suffices([&] {
        if (watch_.see({.worker = w.id(), .handlers = w.handlers(), .is_asleep = w.is_asleep()}))
          found.push_back({.scheduler = &scheduler_,
                           .worker = w.id(),
                           .handlers = w.handlers(),
                           .thread = w.thread(),
                           .running = w.running(),
                           .origin = w.origin()});
      });
    });
    for (const finding& f : found)
      if_memory_suffices([&] { begin_stall(f); });
    watch_.finish([this](const stall_watch::held& h, std::int64_t duration) {
      const auto s = stalls_.find({h.worker, h.handlers});
      if (s == stalls_.end())
        return;
      s->second.has_ended = true;
      s->second.duration = std::chrono::nanoseconds(duration);
      if_memory_suffices([&] { report_(s->second); });
      stalls_.erase(s);
    });
  }

  template <class F>
  static void if_memory_suffices(F f) {
    try {
      f();
    } catch (const std::bad_alloc&) {}
  }

  void begin_stall(const finding& f) {
    stall s;
    symbols names;
    s.id = ++last_id_;
    s.duration = std::chrono::nanoseconds(watch_.duration(f.worker));
    s.thread = f.thread;
    s.handler = type_name(detail::operation_description(f.running).handler());
    if (origins_)
      s.origin = names.name_callers(origins::addresses(f.origin));
    if (signal_)
      s.stack = names.name(ask(f), true);
    report_(stalls_.emplace(std::pair(f.worker, f.handlers), std::move(s)).first->second);
  }

  /// The stack of a stalled worker, if it is still in the same handler when it answers.
  std::vector<void*> ask(const finding& f) {
    stack_signal::question question;
    scheduler_.look([&](const detail::worker& w) {
      if (is_of(f, w))
        question.ask(*signal_, w.native_thread(), {&is_here_still, &f});
    });
    return question.answer();
  }

  static bool is_of(const finding& f, const detail::worker& w) noexcept {
    return &w.owner() == f.scheduler && w.id() == f.worker && w.handlers() == f.handlers &&
           !w.is_asleep();
  }

  /// Asked by the stalled thread, in the signal handler.
  static bool is_here_still(const void* argument) noexcept {
    const auto& f = *static_cast<const finding*>(argument);
    for (const detail::worker* w = detail::worker::innermost(); w; w = w->outer())
      if (is_of(f, *w))
        return true;
    return false;
  }

  detail::scheduler& scheduler_;
  const std::chrono::nanoseconds interval_;
  const detail::home_process process_;
  std::optional<stack_signal> signal_;
  std::optional<origins> origins_;

  // The thread's.
  stall_watch watch_;
  const callback report_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, stall> stalls_;  // by worker and handler
  std::uint64_t last_id_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;  // guarded by mutex_, as is the next
  bool is_awake_ = false;
  std::thread thread_;
};

stall_detector::stall_detector(execution_context& context, const stall_detector_options& options,
                               callback report)
    : watcher_(new watcher(detail::use_scheduler(context), options, std::move(report))) {}

void stall_detector::watcher_end::operator()(watcher* w) const noexcept {
  delete w;
}

stall_detector::~stall_detector() {
  // Of a thread that is not here, and of locks that it may have held, nothing can be destroyed.
  if (!watcher_->is_here())
    static_cast<void>(watcher_.release());
}

}  // namespace WEFT_NAMESPACE::observe
