// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/executor_work_guard.hpp>
