// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <source_location>

#include "model/checker/engine.hpp"

namespace model {

/// std::mutex for code under the checker. A try fails only while another thread holds it.
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
  bool try_lock(where_type where = where_type::current()) {
    return detail::engine::instance().try_lock(*state_, where);
  }
  void unlock(where_type where = where_type::current()) {
    detail::engine::instance().unlock(*state_, where);
  }

 private:
  friend class condition_variable;
  detail::mutex_state* const state_;
};

/// std::condition_variable for code under the checker. It does not wake for no reason. A wait with
/// a deadline may time out at any moment: each is explored, at first when all others wait.
class condition_variable {
  using where_type = std::source_location;

 public:
  condition_variable() : waiters_(detail::engine::instance().make_waiters()) {}
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Also for a mutex that is derived from ours.
  template <class Mutex>
  void wait(std::unique_lock<Mutex>& l, where_type where = where_type::current()) {
    const mutex& m = *l.mutex();
    detail::engine::instance().wait(*waiters_, *m.state_, false, where);
  }
  template <class Mutex, class TimePoint>
  std::cv_status wait_until(std::unique_lock<Mutex>& l, const TimePoint&,
                            where_type where = where_type::current()) {
    const mutex& m = *l.mutex();
    return detail::engine::instance().wait(*waiters_, *m.state_, true, where)
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
