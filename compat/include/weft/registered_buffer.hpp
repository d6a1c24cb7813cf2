// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/registered_buffer.hpp>
