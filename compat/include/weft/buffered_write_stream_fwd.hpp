// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffered_write_stream.hpp>
