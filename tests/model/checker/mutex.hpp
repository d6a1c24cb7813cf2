// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <source_location>

#include "model/checker/engine.hpp"

namespace model {

/// std::mutex for code under the checker; it cannot be tried.
class mutex {
  using where_type = std::source_location;

 public:
  mutex() : state_(detail::engine::instance().make_mutex()) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { detail::engine::instance().end_mutex(*state_); }

  void lock(where_type where = where_type::current()) {
    detail::engine::instance().lock(*state_, where);
  }
  void unlock(where_type where = where_type::current()) {
    detail::engine::instance().unlock(*state_, where);
  }

 private:
  friend class condition_variable;
  detail::mutex_state* const state_;
};

/// std::condition_variable for code under the checker. It does not wake for no reason. A wait with
/// a deadline may time out at any moment: each is explored.
class condition_variable {
  using where_type = std::source_location;
  using lock = std::unique_lock<mutex>;

 public:
  condition_variable() : waiters_(detail::engine::instance().make_waiters()) {}
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  void wait(lock& l, where_type where = where_type::current()) {
    detail::engine::instance().wait(*waiters_, *l.mutex()->state_, false, where);
  }
  template <class TimePoint>
  std::cv_status wait_until(lock& l, const TimePoint&, where_type where = where_type::current()) {
    return detail::engine::instance().wait(*waiters_, *l.mutex()->state_, true, where)
               ? std::cv_status::no_timeout
               : std::cv_status::timeout;
  }
  void notify_one(where_type where = where_type::current()) {
    detail::engine::instance().notify(*waiters_, false, where);
  }
  void notify_all(where_type where = where_type::current()) {
    detail::engine::instance().notify(*waiters_, true, where);
  }

 private:
  detail::waiters* const waiters_;
};

}  // namespace model
