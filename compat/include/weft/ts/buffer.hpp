// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffer.hpp>
#include <weft/io/completion_condition.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_until.hpp>
#include <weft/io/streambuf.hpp>
#include <weft/io/write.hpp>
