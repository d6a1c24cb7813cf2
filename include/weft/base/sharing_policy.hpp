// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cerrno>

#include <weft/base/config.hpp>
#include <weft/base/word_mutex.hpp>

namespace WEFT_NAMESPACE::detail {

/// What stands in for the mutex of an object that one thread uses: it costs nothing, and where
/// NDEBUG is not set it asserts that no second thread comes. The first thread that locks it is the
/// one. The layout is the same with and without assertions.
class one_thread {
 public:
  one_thread() = default;
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;

  void lock() noexcept {
#ifndef NDEBUG
    if (!user_)
      user_ = &errno;
    assert(user_ == &errno &&
           "a second thread uses an object of policy sharing::local: make it sharing::concurrent");
#endif
  }
  void unlock() noexcept {}

  /// The next thread that locks it is the one. For who knows that the thread before has finished.
  void hand_over() noexcept { user_ = nullptr; }

 private:
  // Where that thread's errno is: each thread has one of its own.
  const int* user_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail

/// Who may use an object: a template argument of whatever counts references or guards state.
/// (weft::local is the namespace of UNIX-domain sockets, so these have one of their own.)
namespace WEFT_NAMESPACE::sharing {

/// Policy of objects that any thread may use at any time. The default everywhere.
struct concurrent {
  static constexpr bool is_concurrent = true;
  /// Guards the state of an object.
  using mutex = detail::word_mutex;
};

/// Policy of objects that never leave a thread: no atomic operation, no lock. Using one from a
/// second thread is undefined; where NDEBUG is not set, an assertion says so.
struct local {
  static constexpr bool is_concurrent = false;
  using mutex = detail::one_thread;
};

}  // namespace WEFT_NAMESPACE::sharing
