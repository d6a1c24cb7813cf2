// SPDX-License-Identifier: BSL-1.0
// What an executor cannot do is refused when the program is compiled.
#include <weft/execution/any_completion_executor.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/execution/system_executor.hpp>

namespace execution = weft::execution;

void check(weft::any_io_executor io, weft::execution_context& context) {
  weft::require(io, execution::blocking.never).execute([] {});
  weft::any_completion_executor completion = io;
  weft::prefer(weft::inline_executor(), execution::relationship.continuation).execute([] {});

#if WEFT_BAD == 1
  // bad 1: no match for call|no matching function for call
  weft::require(weft::inline_executor(), execution::blocking.never);
#elif WEFT_BAD == 2
  // bad 2: no match for call|no matching function for call
  weft::require(io, execution::blocking);
#elif WEFT_BAD == 3
  // bad 3: conversion from|no viable conversion
  weft::any_io_executor without_context = weft::inline_executor();
#elif WEFT_BAD == 4
  // bad 4: conversion from|no viable conversion
  weft::any_io_executor widened = completion;
#elif WEFT_BAD == 5
  // bad 5: no match for call|no matching function for call
  weft::require(io, execution::relationship.fork);
#elif WEFT_BAD == 6
  // bad 6: deleted function|deleted constructor
  weft::execution_context copied = context;
#endif
}
