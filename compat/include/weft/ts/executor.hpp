// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/packaged_task.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/defer.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/system_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/execution/system_executor.hpp>
#include <weft/execution/uses_executor.hpp>
