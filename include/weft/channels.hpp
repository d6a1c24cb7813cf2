// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Channels of every kind, and select.

#include <weft/sync/broadcast.hpp>
#include <weft/sync/channel.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/select.hpp>
#include <weft/sync/watch.hpp>
