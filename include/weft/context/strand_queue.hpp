// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/atomics.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/word_mutex.hpp>

namespace WEFT_NAMESPACE::detail {

struct strand_atomics : std_atomics {
  using mutex = word_mutex;
  /// How many functions run before others in the executor have their turn.
  static constexpr unsigned longest_turn = 128;
};

/// The functions that wait for a strand, and who may run them.
///
/// The protocol. A strand is *idle* or *scheduled* (`scheduled_`). Whoever makes it scheduled (by
/// the first push, or by entering it) holds the only right to run functions, and passes the right
/// on by submitting the strand to its executor. `run` is where the right is exercised:
///   1. It takes all that waits as one batch, and runs it in order, up to `longest_turn` functions.
///   2. If some are left, or more has come meanwhile, the right is submitted again, so that others
///      in the executor have their turn. If that is impossible (an executor that cannot post, or
///      has no memory), it goes on inline. Nothing is lost.
///   3. If nothing waits, the strand becomes idle, under the lock.
///   4. A function that throws: what is left of the batch goes back to the front, 2 or 3 is done,
///      and then the exception goes on to the executor; of several (it went on inline) the first.
///
/// One uncontended lock per push, and two per batch. `mutex_` guards all members; nothing is called
/// while it is held. Bodies: src/context/strand_queue.ipp.
template <class Atomics = strand_atomics>
class basic_strand_queue {
 public:
  /// A function to be run before the batch: `call(argument)`.
  struct immediate {
    void (*call)(void* argument);
    void* argument;
  };

  /// Takes the function into the queue. Returns whether the caller holds the right to run, and must
  /// submit the strand now. In a queue that is closed the function is destroyed.
  bool push(operation* op) noexcept;

  /// Makes an idle strand scheduled. Returns whether it was idle; the caller must then `run`.
  bool try_enter() noexcept;

  /// Runs what waits. The caller holds the right to run. `bool submit_again() noexcept` passes it
  /// on, and returns whether it could. `before(op) noexcept` is called before each function. Throws
  /// what a function throws.
  template <class Submit, class Before>
  void run(Submit submit_again, Before before, immediate first);

  /// For a submission that may fail: `ticket` after the push; if the submission threw, `take_back`,
  /// which takes `op` out of the queue. If the right has been exercised since, or the queue closed,
  /// `op` is not there, and becomes null. Returns whether the caller must `run` what others have
  /// pushed after it.
  unsigned ticket() noexcept;
  bool take_back(unsigned ticket, operation*& op) noexcept;

  /// Moves what waits to `abandoned`. From now on functions are destroyed.
  void close(operation_queue& abandoned) noexcept;

 private:
  bool leave(operation_queue& rest) noexcept;

  typename Atomics::mutex mutex_;
  bool scheduled_ = false;
  bool closed_ = false;
  unsigned runs_ = 0;  // how often the right to run has been exercised
  operation_queue waiting_;
};

}  // namespace WEFT_NAMESPACE::detail
