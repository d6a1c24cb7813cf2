// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>

#include <mutex>
#include <vector>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::observe {

/// A signal by which other threads are asked where they are. Its handler is installed while any of
/// these lives; what was there before gets all signals that are not a question, and is put back at
/// the end, unless ours has been replaced. If it is a handler of the program's and a thread has yet
/// to take a question (it blocks the signal), ours stays, and goes on passing on the others.
///
/// One thread at a time is asked, in the whole process.
class stack_signal {
 public:
  /// Throws system_error if there can be no handler for the signal, or there is none and its
  /// default is not to be ignored: that could not be passed on.
  explicit stack_signal(int number);
  stack_signal(const stack_signal&) = delete;
  stack_signal& operator=(const stack_signal&) = delete;
  ~stack_signal();

  /// Holds the right to ask. Taken before any other lock.
  class question {
   public:
    question();

    /// What the thread that is asked has to find true, or it does not answer; called in the signal
    /// handler.
    struct condition {
      bool (*holds)(const void* argument) noexcept;
      const void* argument;  // valid until answer() has returned
    };

    /// Asks the thread, which must be alive. Once. It takes no lock and does not wait.
    void ask(const stack_signal& by, pthread_t thread, condition only_if) noexcept;

    /// The addresses of its calls, the innermost first; empty if it was not asked, the condition
    /// did not hold, or it does not answer within about a second. Throws std::bad_alloc.
    std::vector<void*> answer();

   private:
    std::unique_lock<std::mutex> right_;
    bool is_asked_ = false;
  };

 private:
  const int number_;
};

}  // namespace WEFT_NAMESPACE::observe
