// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

// The locks of the whole process are held around a fork, whatever other threads do: the child finds
// them free, and what they guard at rest. Their handlers (pthread_atfork(3)) are registered by
// functions with `[[gnu::constructor(priority)]]`, one of these, before there can be a second
// thread, and before the objects of the program are made: handlers that those register run with
// all of these locks free. What is registered first is asked to prepare last: so a lock that may be
// held where another is taken has the greater number. Those of a kind of dozens are word_mutexes:
// ThreadSanitizer, which does not know them for mutexes, ends a program that holds 64 others.
inline constexpr int fork_memory = 101;    // all below may take it
inline constexpr int fork_locks = 102;     // none is held where another of them is taken
inline constexpr int fork_contexts = 103;  // held while a context is made and threads are started

}  // namespace WEFT_NAMESPACE::detail
