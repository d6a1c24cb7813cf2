// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/is_buffered.hpp>
