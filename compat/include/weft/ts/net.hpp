// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/ts/buffer.hpp>
#include <weft/ts/executor.hpp>
#include <weft/ts/internet.hpp>
#include <weft/ts/io_context.hpp>
#include <weft/ts/netfwd.hpp>
#include <weft/ts/socket.hpp>
#include <weft/ts/timer.hpp>
