// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/experimental/parallel_group.hpp>
