// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Every form of coroutine.

#include <weft/coro/async_generator.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/awaitable_operation.hpp>
#include <weft/coro/callable.hpp>
#include <weft/coro/co_composed.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/generator.hpp>
#include <weft/coro/resume_event.hpp>
#include <weft/coro/resume_state.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/this_coro.hpp>
#include <weft/coro/use_awaitable.hpp>
