// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "model/checker/checker.hpp"
#include "model/checker/fiber.hpp"
#include "model/checker/site.hpp"

namespace model::detail {

inline constexpr int max_threads = 8;

/// How far each thread had come.
using vector_clock = std::array<std::uint32_t, max_threads>;

/// What happens before an operation: how far each thread, and of each atomic object the latest
/// store (its index in location::stores).
struct knowledge {
  vector_clock clock{};
  std::vector<std::uint32_t> view;
};

struct store_event {
  std::uint64_t value = 0;
  std::uint32_t position = 0;         // in the modification order
  bool continues_previous = false;    // a read-modify-write of the one before it
  std::unique_ptr<knowledge> passes;  // what an acquiring reader learns
};

/// Who has touched an object, to tell accesses that nothing orders.
struct access_history {
  int last_writer = 0;
  std::uint32_t written_at = 0;
  vector_clock read_at{};
};

/// An atomic object.
struct location {
  std::uint32_t id = 0;
  std::vector<store_event> stores;   // in the order of their execution
  std::vector<std::uint32_t> order;  // the modification order
  std::uint32_t seq_cst = 0;         // the latest that a seq_cst operation has read or stored
  access_history history;
};

struct mutex_state {
  std::uint32_t id = 0;
  int owner = -1;
  knowledge passes;
  access_history history;
};

struct waiters {
  std::uint32_t id = 0;
  std::vector<int> threads;
};

struct virtual_thread {
  enum class state : std::uint8_t {
    ready,
    locking,
    joining,
    waiting,
    waiting_or_timeout,
    finished
  };

  state what = state::finished;
  bool has_yielded = false;
  mutex_state* lock = nullptr;  // with locking
  int joined = 0;               // with joining
  knowledge known;
  std::function<void()> body;
  std::vector<void*> locals;
};

/// One line of a trace.
struct event {
  int thread;
  const char* object;
  std::uint32_t id;
  const char* operation;
  const char* order;
  bool has_result;
  bool has_operand;
  std::uint64_t result;
  std::uint64_t operand;
  const char* note;
  std::source_location where;
};

/// The execution under way, and the search through all of them.
class engine {
 public:
  static engine& instance();

  result explore(const options& limits, const std::function<void()>& scenario);

  // ---- for the running thread

  [[noreturn]] void fail(std::string reason);
  unsigned choose(unsigned count);

  int start_thread(std::function<void()> body);
  void join(int thread);
  void yield();
  int running() const noexcept { return running_; }
  bool is_active() const noexcept { return running_ >= 0; }

  location* make_location(std::uint64_t value);
  void end_location(location& l);
  std::uint64_t load(location& l, const access& how);
  std::uint64_t peek(const location& l) const { return l.stores[l.order.back()].value; }
  void store(location& l, std::uint64_t value, const access& how);
  using modify = std::uint64_t (*)(std::uint64_t, std::uint64_t);
  std::uint64_t read_modify_write(location& l, modify f, std::uint64_t operand, const access& how);
  bool compare_exchange(location& l, std::uint64_t& expected, std::uint64_t desired, bool is_weak,
                        const access& success, const access& failure);
  void barrier(bool is_heavy, const access& how);

  void read_plain(access_history& h, std::source_location where);
  void write_plain(access_history& h, std::source_location where);

  mutex_state* make_mutex();
  void end_mutex(mutex_state& m);
  void lock(mutex_state& m, std::source_location where);
  bool try_lock(mutex_state& m, std::source_location where);
  void unlock(mutex_state& m, std::source_location where);
  waiters* make_waiters();
  /// Whether it was notified rather than timed out.
  bool wait(waiters& w, mutex_state& m, bool may_time_out, std::source_location where);
  void notify(waiters& w, bool all, std::source_location where);

  std::vector<void**> thread_local_slots;

 private:
  using state = virtual_thread::state;
  struct choice {
    std::uint32_t taken;
    std::uint32_t count;
  };

  engine();

  // The search.
  void run_execution(const std::function<void()>& scenario);
  bool advance();
  std::string schedule() const;
  std::string trace() const;

  // Threads.
  struct fiber_start {
    engine* self;
    int index;
  };
  static void run_thread(void* start);
  bool can_run(const virtual_thread& t) const noexcept;
  void step();
  void reschedule();
  void switch_to(int next);
  virtual_thread& self() noexcept { return threads_[static_cast<std::size_t>(running_)]; }

  // Memory.
  void learn(knowledge& to, const knowledge& from);
  std::uint32_t position_known(const location& l) const;
  std::uint32_t earliest(const location& l, std::memory_order order) const;
  void know(location& l, std::uint32_t store, std::memory_order order);
  void acquire_from(const store_event& s, std::memory_order order);
  std::uint32_t insert(location& l, std::uint32_t after, std::uint64_t value, bool continues,
                       std::memory_order order);
  bool may_follow(const location& l, std::uint32_t position) const;
  void check_alive(access_history& h, const std::source_location& where);
  void tick() { ++self().known.clock[static_cast<std::size_t>(running_)]; }
  void record(const event& e);

  options limits_;
  std::vector<choice> path_;
  std::size_t depth_ = 0;
  std::mt19937_64 random_;
  int preemptions_left_ = 0;
  int weak_choices_left_ = 0;
  std::uint64_t steps_ = 0;
  bool failed_ = false;
  std::string reason_;
  std::vector<event> events_;

  int running_ = -1;
  std::size_t started_ = 0;
  std::array<virtual_thread, max_threads> threads_;
  fiber host_;
  std::array<fiber_start, max_threads> starts_;
  std::array<std::unique_ptr<fiber>, max_threads> fibers_;

  std::deque<location> locations_;
  std::deque<mutex_state> mutexes_;
  std::deque<waiters> waiters_;
  knowledge passed_by_light_;
  knowledge passed_by_heavy_;
};

}  // namespace model::detail
