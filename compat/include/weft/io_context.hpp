// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/defer.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>
