// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Structured concurrency: groups of tasks, and their manager.

#include <weft/coro/child_task.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/group_core.hpp>
#include <weft/coro/group_error.hpp>
#include <weft/coro/group_token.hpp>
#include <weft/coro/manager_core.hpp>
#include <weft/coro/task_group.hpp>
#include <weft/coro/task_manager.hpp>
#include <weft/coro/with_task_group.hpp>
